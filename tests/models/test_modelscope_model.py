"""Which models are ModelScope's to build; that they are built is shown beside its own trainer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapter import Config, ConfigError, build_trainer, pipeline
from adapter.models import modelscope_model
from adapter.models.modelscope_model import is_modelscopes
from adapter.prepare import prepare

BERT = {"type": "bert"}
CONFIG = {
    "model": {"type": "structbert-of-theirs"},
    "train": {"max_epochs": 1, "optimizer": {"type": "SGD", "lr": 0.1}},
}


@pytest.mark.parametrize(
    ("kind", "in_directory", "expected"),
    [
        ("structbert-of-theirs", "structbert-of-theirs", True),
        ("structbert-of-theirs", None, True),  # named by a config file elsewhere
        ("mlp-classifier", "mlp-classifier", False),
        ("torch.nn.Linear", "torch.nn.Linear", False),
        ("bert", "bert", True),
        ("bert", None, False),
        ("bert", "mlp-classifier", False),
        (None, "bert", False),
    ],
)
def test_whose_model_it_is(
    kind: str | None, in_directory: str | None, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if in_directory:
        (tmp_path / "configuration.json").write_text(json.dumps({"model": {"type": in_directory}}))
    monkeypatch.setattr(modelscope_model, "has_modelscope", lambda: True)
    assert is_modelscopes({"type": kind}, str(tmp_path)) is expected
    assert not is_modelscopes({"type": kind}, None)
    monkeypatch.setattr(modelscope_model, "has_modelscope", lambda: False)
    assert not is_modelscopes({"type": kind}, str(tmp_path))


def test_without_the_package_its_name_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modelscope_model, "has_modelscope", lambda: False)
    (tmp_path / "configuration.json").write_text(json.dumps(CONFIG))
    with pytest.raises(ConfigError, match=r"pip install 'ms-lightning-adapter\[modelscope\]'") as caught:
        build_trainer("trainer", {"model": str(tmp_path), "work_dir": str(tmp_path / "work")})
    assert [problem.key for problem in caught.value.problems] == ["model.type"]
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("model", "key"),
    [("m", "model"), ({"path": "m"}, "model.path"), ({"type": "structbert-of-theirs", "path": "m"}, "model.path")],
)
def test_a_config_that_names_the_directory_is_told_the_package_by_its_key(
    model: Any, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modelscope_model, "has_modelscope", lambda: False)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "configuration.json").write_text(json.dumps(CONFIG))
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**CONFIG, "model": model}))
    found = r"'m' holds a model of ModelScope, 'structbert-of-theirs', .*\s+fix: pip install 'ms-lightning-adapter"
    with pytest.raises(ConfigError, match=found) as caught:
        pipeline.fit(pipeline.Request(str(config), work_dir=str(tmp_path / "work")))
    assert [problem.key for problem in caught.value.problems] == [key]
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"model": "m"}, {"type": "bert", "path": "m", "dropout": 0.1}),
        ({"model": {"path": "m", "dropout": 0.2}}, {"type": "bert", "path": "m", "dropout": 0.2}),
        ({"model": {"path": "m", "type": "transformers"}}, {"type": "transformers", "path": "m"}),
        ({"model": {"path": "elsewhere"}}, {"path": "elsewhere"}),
    ],
)
def test_what_a_config_leaves_to_the_directory(written: Any, expected: Any, tmp_path: Path) -> None:
    own = {
        "task": "text-classification",
        "model": {**BERT, "dropout": 0.1},
        "preprocessor": {"type": "sen-cls-tokenizer"},
    }
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "configuration.json").write_text(json.dumps(own))
    config = prepare(Config({**written, "preprocessor": None}, filename=tmp_path / "config.json")).config
    assert config.model == expected
    taken = own if expected["type" if "type" in expected else "path"] == "bert" else {}
    assert (config.get("task"), config.preprocessor) == (taken.get("task"), taken.get("preprocessor"))
