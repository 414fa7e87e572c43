"""A run of a tenth of a second: the model, the data and the task that the recordings were made with, and a config."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adapter import pipeline
from adapter.runner import BaseDataset, BaseModel, BaseTask, registry
from adapter.runner.trainer import RunTrainer
from tests.parity.golden.cases import TinyNet, sample

RECORDED = Path(__file__).parent / "recorded"


@registry.register_model("tiny")
class Tiny(BaseModel):
    def __init__(self, head_scale: float = 1.0, dropout: float = 0.0, frozen: bool = False) -> None:
        super().__init__()
        net = TinyNet(dropout)
        self.hidden, self.drop, self.head, self.head_scale = net.hidden, net.drop, net.head, head_scale
        self.register_buffer("seen", torch.zeros(()), persistent=frozen)
        self.hidden.requires_grad_(not frozen)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.drop(torch.tanh(self.hidden(x))))

    def train_step(self, samples: Any) -> Any:
        loss = torch.nn.functional.cross_entropy(self(samples["feat"]), samples["labels"])
        return loss, {"loss": loss.detach().clone()}

    def val_step(self, samples: Any) -> Any:
        z = self(samples["feat"])
        loss = torch.nn.functional.cross_entropy(z, samples["labels"], reduction="none")
        return zip(loss.tolist(), z.tolist(), samples["labels"].tolist(), strict=True)

    def get_optimizer_params(self, weight_decay: float, lr_scale: float = 1) -> list[dict[str, Any]]:
        groups = []
        for part, scale in ((self.hidden, lr_scale), (self.head, self.head_scale)):
            if part.weight.requires_grad:
                groups.append({"params": [part.weight], "weight_decay": weight_decay, "lr_scale": scale})
                groups.append({"params": [part.bias], "weight_decay": 0, "lr_scale": scale})
        return groups


@registry.register_dataset("map_data")
class Data(BaseDataset):
    def __init__(self, transform: Any = None, n: int = 0, noise: float = 0.0) -> None:
        super().__init__(transform)
        self.n, self.noise = n, noise

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> dict[str, Any]:
        row = sample(i)
        return {**row, "feat": row["feat"] + self.noise * torch.randn(8)} if self.noise else row


@registry.register_task("tiny_cls")
class Task(BaseTask):
    sign = 1

    def after_evaluation(self, val_result: Any, **kwargs: Any) -> dict[str, Any]:
        right = sum(int(np.argmax(z) == y) for _, z, y in val_result)
        return {"agg_metrics": self.sign * right / len(val_result) * 100, "ACC": right / len(val_result) * 100}


@registry.register_task("tiny_negative")
class Negative(Task):
    def after_evaluation(self, val_result: Any, **kwargs: Any) -> dict[str, Any]:
        return {"agg_metrics": -float(np.mean([loss for loss, _, _ in val_result]))}


@registry.register_task("tiny_unjudged")
class Unjudged(BaseTask):
    pass


def config(folder: Path, **changes: Any) -> dict[str, Any]:
    """The config of the first recording, in a folder; `model__dropout=0.5` goes a level down, others into `run`."""
    found = copy.deepcopy(json.loads((RECORDED / "constant.json").read_text())["cfg"])
    found["run"]["output_dir"] = str(folder / "out")
    for name, value in changes.items():
        *path, last = name.split("__") if "__" in name else ("run", name)
        section = found
        for step in path:
            section = section.setdefault(step, {})
        section[last] = value
    return found


def request(folder: Path, given: dict[str, Any], **more: Any) -> pipeline.Request:
    """A request for a config, written to a file of the folder."""
    path = folder / "config.yaml"
    path.write_text(json.dumps(given))
    return pipeline.Request(str(path), **more)


def fit(folder: Path, **changes: Any) -> RunTrainer:
    """A run of the config with changes; `resume` and `trainer_args` go to the request."""
    more = {name: changes.pop(name) for name in ("resume", "trainer_args", "overrides") if name in changes}
    trainer = pipeline.fit(request(folder, config(folder, **changes), **more))
    assert isinstance(trainer, RunTrainer)
    return trainer


def log_of(trainer: RunTrainer) -> list[dict[str, Any]]:
    """The lines of log.txt after the config."""
    text = Path(trainer.work_dir, "log.txt").read_text()
    return [json.loads(line) for line in text[text.index("\n}\n") + 3 :].splitlines()]


def saved(trainer: RunTrainer, name: str) -> dict[str, Any]:
    """A checkpoint of a run."""
    return torch.load(Path(trainer.work_dir, f"{name}.pth"), weights_only=True)


def weights(trainer: RunTrainer) -> Iterator[list[float]]:
    """Every number of the model's state."""
    return (value.double().flatten().tolist() for value in trainer.model.state_dict().values())
