"""Which models are ModelScope's to build; that they are built is shown beside its own trainer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapter import ConfigError, build_trainer
from adapter.models import modelscope_model
from adapter.models.modelscope_model import is_modelscopes

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
