"""A migrated config trains as the one it was made from, bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapter import Hook, build_trainer
from adapter.migrate import migrate
from tests.parity.golden.cases import CASES
from tests.parity.play import play


def rewrite(path: Path) -> None:
    path.write_text(migrate(path).text)


@pytest.mark.parametrize("name", CASES)
def test_trains_the_same(name: str) -> None:
    assert play(name, build_trainer, Hook, rewrite) == play(name, build_trainer, Hook)
