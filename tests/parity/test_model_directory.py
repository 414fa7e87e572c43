"""One script fine-tunes a model directory with ModelScope's trainer and with ours, on ModelScope's models and data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.modelscope_names.test_scripts import python
from tests.parity.test_real_trainer import REAL_PYTHON, pytestmark

__all__ = ["pytestmark"]
SCRIPT = Path(__file__).with_name("bert_directory.py")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    seen = []
    for words in ((), ("-m", "adapter", "run")):
        out = tmp_path_factory.mktemp("directory")
        done = python(*words, str(SCRIPT), str(out), program=REAL_PYTHON)
        assert done.returncode == 0, done.stderr[-3000:]
        seen.append(json.loads((out / "seen.json").read_text()))
    return seen[0], seen[1]


@pytest.mark.parametrize("name", ["trainer", "nlp-base-trainer"])
def test_same_to_the_last_bit(name: str, both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    real, ours = (each[name] for each in both)
    assert (real.pop("trainer"), ours.pop("trainer")) == ("modelscope", "adapter")
    assert all(part.startswith("modelscope.") for part in ours["parts"])
    assert len(set(ours["losses"])) == 16
    assert json.dumps(ours, sort_keys=True) == json.dumps(real, sort_keys=True)
