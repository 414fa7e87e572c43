"""What a work directory becomes when it is exported, and what is refused before anything is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from adapter import ConfigError, build_trainer
from adapter.cli.main import main
from adapter.export import export
from tests.tiny_models import tiny_bert

LORA = {"type": "lora", "r": 2, "target_modules": ["query"], "modules_to_save": ["classifier"]}


def trained(folder: Path, model: dict[str, Any], data: str, columns: dict[str, str], **sections: Any) -> Any:
    """One epoch on two rows; what is written is in `folder/run`."""
    (folder / "data.csv").write_text(data)
    config = {
        "task": "text-classification",
        "model": model,
        "dataset": {"train": {"file": str(folder / "data.csv"), **columns}},
        "train": {
            "max_epochs": 1,
            "dataloader": {"batch_size_per_gpu": 2, "workers_per_gpu": 0},
            "optimizer": {"type": "SGD", "lr": 0.5},
        },
        **sections,
    }
    trainer = build_trainer(default_args={"cfg_file": config, "work_dir": str(folder / "run"), "device": "cpu"})
    trainer.train()
    return trainer


@pytest.fixture
def text(tmp_path: Path, dataset_cache: Path) -> Any:
    """Train a tiny BERT, with adapters or without."""

    def run(tuners: Any = None) -> Any:
        columns = {"first_sequence": "text", "label": "label"}
        sections = {"preprocessor": {"type": "Tokenize"}, **({"tuners": tuners} if tuners else {})}
        section = {"path": str(tiny_bert(tmp_path / "bert"))}
        return trained(tmp_path, section, "text,label\ngood,praise\nbad,blame\n", columns, **sections)

    return run


@pytest.mark.parametrize(
    "tuners", [None, LORA, {"one": LORA, "two": {**LORA, "target_modules": ["value"], "modules_to_save": None}}]
)
@pytest.mark.filterwarnings("ignore:Already found a `peft_config`")
def test_transformers_load_what_was_trained(tuners: Any, text: Any, tmp_path: Path) -> None:
    import transformers

    trainer = text(tuners)
    names = export(tmp_path / "run", tmp_path / "out")
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= set(names)
    assert not [name for name in names if name.startswith("adapter_")]
    loaded, info = transformers.AutoModelForSequenceClassification.from_pretrained(
        tmp_path / "out", output_loading_info=True
    )
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    batch = {"input_ids": torch.tensor([[2, 4, 3]])}
    assert torch.allclose(loaded.eval()(**batch).logits, trainer.model.eval()(**batch).logits, atol=1e-5)


def test_another_model_is_its_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    section = {"type": "mlp-classifier", "in_features": 1, "hidden": [2], "num_classes": 2}
    trainer = trained(tmp_path, section, "x,label\n1,0\n2,1\n", {"features": "x", "label": "label"})
    assert main(["export", str(tmp_path / "run"), "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.endswith("out: configuration.json, pytorch_model.bin\n")
    weights = torch.load(tmp_path / "out" / "pytorch_model.bin", weights_only=True)
    assert all(value.equal(weights[name]) for name, value in trainer.model.state_dict().items())


def set_full(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "note.txt").touch()


def set_no_weights(folder: Path) -> None:
    (folder / "run" / "output" / "pytorch_model.bin").unlink()


def set_best_only(folder: Path) -> None:
    (folder / "run" / "output").rename(folder / "run" / "output_best")


def set_no_adapter_config(folder: Path) -> None:
    (folder / "run" / "output" / "adapter_config.json").unlink()


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (set_full, "not empty"),
        (set_no_weights, "no weights at"),
        (set_best_only, "no weights at .*output_best"),
        (set_no_adapter_config, r"there is no adapter_config\.json"),
    ],
)
def test_refused_before_anything_is_written(spoil: Any, told: str, text: Any, tmp_path: Path) -> None:
    text(LORA)
    spoil(tmp_path)
    before = sorted(tmp_path.glob("out/*"))
    with pytest.raises(ConfigError, match=told):
        export(tmp_path / "run", tmp_path / "out")
    assert sorted(tmp_path.glob("out/*")) == before
    assert (tmp_path / "out").exists() == bool(before)
