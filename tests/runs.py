"""Small real runs: a network, data, a metric and a config that train in a tenth of a second."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset

from adapter import EpochBasedTrainer, Hook, Metric, build_trainer


class Net(nn.Module):
    """forward(x: (B, 4) float32, label: (B,) int64) -> {logits: (B, 3), loss: scalar}; weights by formula."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 3)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(0.3 * torch.cos(torch.arange(parameter.numel())).reshape(parameter.shape))

    def forward(self, x, label):
        logits = self.head(x)
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, label)}


class Points(Dataset):
    """``n`` samples by formula."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return {"x": torch.tensor([math.sin(4 * i + j) for j in range(4)]), "label": torch.tensor(i % 3)}


class Scripted(Metric):
    """Scores ``values[k]`` in epoch ``k`` or, with ``by`` iter, in iteration ``k``."""

    def __init__(self, values: Sequence[float], by: str = "epoch", name: str = "score") -> None:
        self.values = values
        self.by = by
        self.name = name

    def add(self, outputs, inputs):
        pass

    def evaluate(self):
        return {self.name: self.values[getattr(self.trainer, self.by)]}

    def merge(self, other):
        pass


class Recorder(Hook):
    """Notes something at a stage, after every other hook; ``seen`` holds the notes."""

    def __init__(self, stage: str, note: Callable[[Any], Any], priority: Any = "LOWEST") -> None:
        self.PRIORITY = priority
        self.seen: list[Any] = []
        setattr(self, stage, lambda trainer: self.seen.append(note(trainer)))


def iterations() -> Recorder:
    """Notes the number of each iteration that a run does: a resumed one has to begin where it stopped."""
    return Recorder("before_train_iter", lambda trainer: trainer.iter)


def scripted(*values: float, by: str = "epoch") -> dict[str, Any]:
    """The metrics entry of :class:`Scripted`."""
    return {"type": "tests.runs.Scripted", "values": list(values), "by": by}


def make(
    work_dir: Path,
    hooks: Sequence[Mapping[str, Any]] = (),
    epochs: int = 2,
    train: Mapping[str, Any] | None = None,
    metrics: Any = "accuracy",
    samples: int = 12,
    **keywords: Any,
) -> EpochBasedTrainer:
    """A trainer with exactly these hooks beside the two that step: batches of 4 in order, SGD at 0.1, evaluation
    of 6 samples."""

    def only_these(cfg: Any) -> None:
        cfg.train.hooks = [dict(hook) for hook in hooks]

    loader = {"batch_size_per_gpu": 4, "workers_per_gpu": 0}
    config = {
        "task": "image-classification",
        "train": {
            "max_epochs": epochs,
            "dataloader": {**loader, "shuffle": False},
            "optimizer": {"type": "SGD", "lr": 0.1},
            "lr_scheduler": {"type": "StepLR", "step_size": 1, "gamma": 0.5},
            **(train or {}),
        },
        "evaluation": {"dataloader": loader, "metrics": metrics},
    }
    given: dict[str, Any] = {
        "cfg_file": config,
        "cfg_modify_fn": only_these,
        "model": Net(),
        "train_dataset": Points(samples),
        "eval_dataset": Points(6),
        "device": "cpu",
        "work_dir": str(work_dir),
    }
    return build_trainer("trainer", {**given, **keywords})


def run(work_dir: Path, *args: Any, **keywords: Any) -> EpochBasedTrainer:
    """A trainer of :func:`make` that has been trained."""
    trainer = make(work_dir, *args, **keywords)
    trainer.train()
    return trainer


def weights_of(trainer: EpochBasedTrainer) -> list[float]:
    """The model's weights, flat."""
    return [value for tensor in trainer.model.state_dict().values() for value in tensor.flatten().tolist()]


def json_lines(folder: Path) -> list[dict[str, Any]]:
    """The lines of the JSON log of a run."""
    (path,) = folder.glob("*.log.json")
    return [json.loads(line) for line in path.read_text().splitlines()]


def messages(folder: Path) -> list[str]:
    """The messages of the log of a run, without time and level."""
    (path,) = folder.glob("*.log")
    return [line.split(" - ", 3)[-1] for line in path.read_text().splitlines()]


def pairs(folder: Path) -> list[str]:
    """Names of the checkpoint pairs in a folder, sorted, without suffix."""
    return sorted(p.stem for p in folder.glob("*.pth") if not p.stem.endswith("_trainer_state"))
