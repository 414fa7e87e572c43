"""What LightningCLI leaves in the environment goes with the test."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def environment_kept() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ("PL_GLOBAL_SEED", "PL_SEED_WORKERS")}
    yield
    for name, value in before.items():
        os.environ.pop(name, None)
        os.environ.update({name: value} if value is not None else {})
