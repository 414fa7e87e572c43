"""Runs of a tenth of a second, for tests of the trainer: a config, a trainer on it, and a hook to look in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torch.utils.data import default_collate

from adapter import Config, EpochBasedTrainer, Hook, Priority
from tests.parity.golden.cases import MapData, TinyNet, base, sample

BATCHES = 3  # of a training epoch: 12 samples, 4 a batch
STAND_IN = object()


def settings(**changes: Any) -> dict[str, Any]:
    """A config of one epoch without shuffling; `__` in a name goes a level down, None removes the key."""
    config = Config(base(epochs=1))
    config.merge_from_dict({"train.hooks": [], "train.dataloader.shuffle": False})
    for name, value in changes.items():
        *path, last = name.split("__")
        section = config
        for step in path:
            section = section.setdefault(step, {})
        section[last] = value
        if value is None:
            del section[last]
    return config.to_dict()


def build(folder: Path, config: Mapping[str, Any] | None = None, **keywords: Any) -> EpochBasedTrainer:
    """A trainer on TinyNet, 12 training and 6 evaluation samples, that writes below `folder`; a keyword wins."""
    cls = keywords.pop("cls", EpochBasedTrainer)
    usual = {
        "cfg_file": settings() if config is None else config,
        "model": STAND_IN,
        "train_dataset": MapData(4 * BATCHES),
        "eval_dataset": MapData(6),
        "work_dir": str(folder / "work"),
        "device": "cpu",
    }
    given = {**usual, **keywords}
    if given["model"] is STAND_IN:
        given["model"] = TinyNet()
    return cls(**given)


def at(stage: str, do: Callable[[Any], Any], priority: Priority | int = Priority.LOWEST) -> Hook:
    """A hook that calls `do(trainer)` at a stage."""
    return type("At", (Hook,), {"PRIORITY": priority, stage: lambda self, trainer: do(trainer)})()


class Stages(Hook):
    """Notes each stage."""

    def __init__(self) -> None:
        self.seen: list[str] = []


for _stage in Hook.stages:
    setattr(Stages, _stage, lambda self, trainer, stage=_stage: self.seen.append(stage))


class Losses(Hook):
    """Notes the loss of each training iteration."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def after_train_iter(self, trainer: Any) -> None:
        self.seen.append(float(trainer.train_outputs["loss"].detach()))


def losses(folder: Path, config: Mapping[str, Any] | None = None, **keywords: Any) -> list[float]:
    """The losses of a whole run."""
    note = Losses()
    build(folder, config, **{**keywords, "callbacks": [*keywords.get("callbacks", []), note]}).train()
    return note.seen


def weights(trainer: EpochBasedTrainer) -> dict[str, Tensor]:
    """A copy of the model's weights."""
    return {name: value.clone() for name, value in trainer.model.state_dict().items()}


def same(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> bool:
    """Whether two sets of weights are equal to the last bit."""
    return one.keys() == other.keys() and all(one[name].equal(other[name]) for name in one)


def all_logits(model: nn.Module) -> Tensor:
    """What the model makes of the six evaluation samples."""
    return model(**default_collate([sample(i) for i in range(6)]))["logits"]
