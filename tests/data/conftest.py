"""What the tests of data share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def dataset_cache(tmp_path, monkeypatch):
    """Keep what the datasets library caches out of the home folder."""
    folder = tmp_path / "cache"
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", folder)
    return folder
