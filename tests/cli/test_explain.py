"""``adapter explain``, over every config of the corpus."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapter.cli.main import main
from adapter.config import Config
from tests.conftest import CORPUS

FILES = sorted(path.relative_to(CORPUS) for path in CORPUS.glob("*/*.*"))


def leaves(value: Any, key: str = "") -> Iterator[str]:
    """Dotted path of everything below `value` that holds no further keys."""
    if isinstance(value, dict) and value:
        for name, below in value.items():
            yield from leaves(below, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list) and value:
        for index, below in enumerate(value):
            yield from leaves(below, f"{key}[{index}]")
    else:
        yield key


@pytest.mark.parametrize("name", FILES, ids=str)
def test_explains_the_corpus(name: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(CORPUS / name)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(str(CORPUS / name))
    assert err == ""


@pytest.mark.parametrize("name", FILES, ids=str)
def test_accounts_for_every_key(name: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(CORPUS / name), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    keys = set(leaves(Config.from_file(CORPUS / name).to_dict()))
    assert keys == {row["key"] for row in rows}


def test_an_override_is_explained_as_if_the_file_had_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("train: {max_epochs: 3}\n")
    assert main(["explain", str(config), "train.max_epochs=7", "--json"]) == 0
    rows = {row["key"]: row["value"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["train.max_epochs"] == 7


def test_strict_refuses_an_unread_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("train: {max_epochs: 3, max_epoch: 3, zzz: 1}\n")
    assert main(["explain", str(config)]) == 0
    assert main(["explain", str(config), "--strict"]) == 2
    said = capsys.readouterr().err
    assert "train.max_epoch: nothing reads this key\n      fix: did you mean max_epochs?" in said
    assert "train.zzz: nothing reads this key\n      fix: leave it out" in said
