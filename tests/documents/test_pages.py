"""What README and migration guide show has to work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.documents.page import read
from tests.documents.session import Session

PAGES = [ROOT / "README.md", *sorted((ROOT / "migration_guide").glob("*.md"))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_everything_that_a_page_shows_works(path: Path, tmp_path: Path) -> None:
    Session(read(path), tmp_path / "page").read()
