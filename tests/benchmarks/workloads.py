"""What every contestant trains: the data, the models and the configs of the three workloads.

``fit``       MLP 32-64-4, batch 16, 2 epochs; size: iterations an epoch
``evaluate``  MLP 32-64-10, batch 32; size: evaluation samples
``save``      one wide linear layer under AdamW, saved after each of 3 of 4 epochs; size: megabytes of weights
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo  # the first optimizer would import it, within somebody's time
from torch import nn
from torch.utils.data import Dataset

FULL_SIZE = {"fit": 2000, "evaluate": 20_000, "save": 100}
SMALL_SIZE = {"fit": 12, "evaluate": 50, "save": 1}  # enough to see that a contestant still runs
SCHEDULE = {"type": "StepLR", "step_size": 1, "gamma": 0.5}


@dataclass(frozen=True)
class Workload:
    """A model, its data and the config that trains it."""

    model: nn.Module
    train: Dataset
    evaluation: Dataset
    config: dict[str, Any]


class Classifier(nn.Module):
    """forward(feat (B, features), labels (B,) int64) -> {"logits": (B, classes), "loss": cross entropy}."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, feat: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        logits = self.layers(feat)
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, labels)}


class Table(Dataset):
    """Random samples, the same ones in every process."""

    def __init__(self, samples: int, features: int, classes: int) -> None:
        random = torch.Generator().manual_seed(samples)
        self.feat = torch.randn(samples, features, generator=random)
        self.labels = torch.randint(classes, (samples,), generator=random)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"feat": self.feat[index], "labels": self.labels[index]}


def make(name: str, size: int) -> Workload:
    """The workload of that name, its initial weights the same in every process."""
    torch.manual_seed(0)
    return {"fit": _fit, "evaluate": _evaluate, "save": _save}[name](size)


def _fit(iterations: int) -> Workload:
    model = Classifier(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4))
    config = _config(epochs=2, batch=16, optimizer={"type": "SGD", "lr": 0.05, "momentum": 0.9})
    config["train"]["logging"] = {"interval": 10}
    config["evaluation"]["period"] = {"interval": 1}
    return Workload(model, Table(iterations * 16, 32, 4), Table(1600, 32, 4), config)


def _evaluate(samples: int) -> Workload:
    model = Classifier(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
    config = _config(epochs=1, batch=32, optimizer={"type": "SGD", "lr": 0.05})
    return Workload(model, Table(32, 32, 10), Table(samples, 32, 10), config)


def _save(megabytes: int) -> Workload:
    width = megabytes * 2**20 // (4 * 1024)
    model = Classifier(nn.Linear(4, 1024), nn.Linear(1024, width), nn.Linear(width, 4))
    config = _config(epochs=4, batch=4, optimizer={"type": "AdamW", "lr": 1e-4})
    return Workload(model, Table(8, 4, 4), Table(8, 4, 4), config)


def _config(epochs: int, batch: int, optimizer: dict[str, Any]) -> dict[str, Any]:
    loader = {"batch_size_per_gpu": batch, "workers_per_gpu": 0}
    return {
        "task": "image-classification",
        "model": {"type": "given"},
        "train": {
            "max_epochs": epochs,
            "dataloader": loader,
            "optimizer": optimizer,
            "lr_scheduler": dict(SCHEDULE),
            "checkpoint": {"period": {"interval": 1}},
        },
        "evaluation": {"dataloader": {**loader, "shuffle": False}, "metrics": ["seq-cls-metric"]},
    }


class IterationClock:
    """Notes when each iteration ends."""

    def __init__(self) -> None:
        self.epochs: list[list[float]] = []

    def start_epoch(self) -> None:
        """A gap is counted within an epoch only: evaluation and saving lie between epochs."""
        self.epochs.append([])

    def tick(self) -> None:
        """An iteration ended now."""
        self.epochs[-1].append(time.perf_counter())

    def result(self) -> dict[str, float]:
        """Microseconds from the end of an iteration to the end of the next: median and mean."""
        gaps = sorted(b - a for ticks in self.epochs for a, b in itertools.pairwise(ticks))
        return {"iter_median_us": 1e6 * gaps[len(gaps) // 2], "iter_mean_us": 1e6 * sum(gaps) / len(gaps)}


class SaveMeter:
    """Seconds, and extra peak of resident memory in MiB, of each saving."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.megabytes: list[float] = []

    def start(self) -> None:
        """Saving begins: the high-water mark of this process starts again from what is resident now."""
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        self._resident, self._began = _status_mib("VmRSS"), time.perf_counter()

    def stop(self) -> None:
        """Saving ended."""
        self.seconds.append(time.perf_counter() - self._began)
        self.megabytes.append(_status_mib("VmHWM") - self._resident)

    def result(self) -> dict[str, float]:
        """Medians over the savings of this process."""
        middle = len(self.seconds) // 2
        return {"save_s": sorted(self.seconds)[middle], "save_peak_mib": sorted(self.megabytes)[middle]}


def _status_mib(field: str) -> float:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field + ":"))
