"""What the tests of data share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_cache(dataset_cache):
    """Every test has a cache of its own."""
