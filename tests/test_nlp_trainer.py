from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import Dataset

from adapter import MODELS, PREPROCESSORS, NlpEpochBasedTrainer, TrainingArgs, build_trainer
from tests.small_runs import BATCHES, Losses, settings

COLUMNS = {"first_sequence": "left", "second_sequence": "right", "label": "verdict"}
LABELS = ["no", "yes"]


class Pair:
    """A preprocessor in the shape of ModelScope's: texts to counts of letters, the label to its number."""

    def __init__(self, mode: str, first_sequence: str, second_sequence: str, label: str, label2id: dict[str, int]):
        self.mode, self.first, self.second, self.label, self.label2id = (
            mode, first_sequence, second_sequence, label, label2id
        )  # fmt: skip

    def __call__(self, row: dict[str, str]) -> dict[str, Any]:
        counts = [float(text.count(letter)) for text in (row[self.first], row[self.second]) for letter in "ab"]
        return {"x": torch.tensor(counts), "label": torch.tensor(self.label2id[row[self.label]])}


class Classifier(nn.Module):
    """Has the parameters that a transformer's config has."""

    def __init__(self, num_labels: int, id2label: dict[int, str], width: int = 4) -> None:
        super().__init__()
        self.id2label = id2label
        self.head = nn.Linear(width, num_labels)

    def forward(self, x: torch.Tensor, label: torch.Tensor) -> dict[str, torch.Tensor]:
        logits = self.head(x)
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, label)}


class Rows(Dataset):
    def __init__(self, **names: str) -> None:
        self.names = {**COLUMNS, **names}

    def __len__(self) -> int:
        return 4 * BATCHES

    def __getitem__(self, i: int) -> dict[str, str]:
        values = ("a" * i, "b" * i, LABELS[i % 2])
        return dict(zip(self.names.values(), values, strict=True))


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    PREPROCESSORS.register_module(module_name="pair-in-a-test", module_cls=Pair)
    MODELS.register_module(module_name="classifier-in-a-test", module_cls=Classifier)
    yield
    PREPROCESSORS.modules["default"].pop("pair-in-a-test")
    MODELS.modules["default"].pop("classifier-in-a-test")


def trainer_on(folder: Path, dataset: Any, **given: Any) -> NlpEpochBasedTrainer:
    config = settings(
        task="text-classification",
        dataset=dataset,
        model={"type": "classifier-in-a-test"},
        preprocessor={"type": "pair-in-a-test"},
        evaluation__period={"interval": 1},
        evaluation__metrics=["seq-cls-metric"],
    )
    usual = {"train_dataset": Rows(), "eval_dataset": Rows(), "work_dir": str(folder / "work"), "device": "cpu"}
    return build_trainer("nlp-base-trainer", {"cfg_file": config, **usual, **given})


def test_labels_and_columns_reach_preprocessors_and_model(tmp_path: Path) -> None:
    note = Losses()
    trainer = trainer_on(tmp_path, {"train": {"labels": LABELS, **COLUMNS}}, callbacks=[note])
    assert (trainer.label2id, trainer.id2label, trainer.num_labels) == ({"no": 0, "yes": 1}, {0: "no", 1: "yes"}, 2)
    assert trainer.train_keys == trainer.eval_keys == COLUMNS
    assert (trainer.train_preprocessor.mode, trainer.eval_preprocessor.mode) == ("train", "val")
    assert trainer.model.id2label == trainer.id2label
    trainer.train()
    assert len(note.seen) == BATCHES
    assert "accuracy" in trainer.metric_values
    written = json.loads((tmp_path / "work" / "output" / "configuration.json").read_text())
    assert written["model"]["label2id"] == {"no": 0, "yes": 1}


def test_evaluation_data_may_have_columns_of_their_own(tmp_path: Path) -> None:
    own = {"first_sequence": "one", "second_sequence": "two", "label": "truth"}
    dataset = {"train": {"labels": LABELS, **COLUMNS}, "val": own}
    trainer = trainer_on(tmp_path, dataset, eval_dataset=Rows(**own))
    assert trainer.eval_keys == own
    assert trainer.evaluate()["accuracy"] >= 0


def test_they_may_come_from_training_args(tmp_path: Path) -> None:
    args = TrainingArgs(labels=",".join(LABELS), **COLUMNS)
    assert trainer_on(tmp_path, {}, cfg_modify_fn=args).label2id == {"no": 0, "yes": 1}


def test_without_labels_nothing_is_added(tmp_path: Path) -> None:
    trainer = trainer_on(tmp_path, {}, model=nn.Linear(1, 1), preprocessor=dict)
    assert (trainer.label2id, trainer.num_labels, trainer.train_keys) == (None, None, {})
    assert trainer.cfg.model == {"type": "classifier-in-a-test"}
    assert type(trainer) is NlpEpochBasedTrainer
