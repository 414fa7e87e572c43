"""A model directory is fine-tuned by ModelScope's trainer and by ours, from one script and from configs alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.modelscope_names.test_scripts import python
from tests.parity.test_real_trainer import REAL_PYTHON, pytestmark

__all__ = ["pytestmark"]
SCRIPT = Path(__file__).with_name("bert_directory.py")
FROM_CONFIGS = Path(__file__).with_name("bert_fit.py")


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


@pytest.fixture(scope="module")
def from_configs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("fit")
    done = python(str(FROM_CONFIGS), str(out), program=REAL_PYTHON)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((out / "seen.json").read_text())


@pytest.mark.parametrize("way", ["file", "folder", "text", "path", "type", "named"])
def test_fit_alone_is_the_same_to_the_last_bit(
    way: str, from_configs: dict[str, Any], both: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    real = {name: value for name, value in both[0]["trainer"].items() if name != "trainer"}
    assert json.dumps(from_configs[way], sort_keys=True) == json.dumps(real, sort_keys=True)


def test_what_fit_writes_is_a_model_directory(from_configs: dict[str, Any]) -> None:
    given = ["config.json", "label_mapping.json", "vocab.txt"]  # of the directory it began with
    assert from_configs["files"] == sorted([*given, "configuration.json", "eval_result.txt", "pytorch_model.bin"])
    assert from_configs["model"] == {"type": "bert"}
    theirs, ours = (from_configs["use"][who] for who in ("theirs", "ours"))
    assert len(theirs) == len(ours) == 8
    for scores, row in zip(theirs, ours, strict=True):
        assert row["scores"] == pytest.approx(scores, abs=1e-6)
        assert row["label"] == max(scores, key=scores.get)
