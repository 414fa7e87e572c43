"""Runs under DeepSpeed beyond the matrix. ``python -m tests.distributed.deepspeed_runs FOLDER`` in two processes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn

from adapter import Hook
from tests.distributed.matrix import Net, consolidated, trainer_of

IN_BETWEEN = 7  # of twelve iterations: in the middle of an epoch, and of an accumulation of 3
EVALUATION = {"type": "EvaluationHook", "interval": 2, "by_epoch": False}
SECTIONS = {"zero_optimization": {"reduce_bucket_size": 1000}}  # DeepSpeed saves what it was given
HALF = {"bf16": {"enabled": True}}


class TwoLosses(Net):
    """The loss in two parts."""

    def forward(self, x, label):
        outputs = super().forward(x, label)
        return {**outputs, "loss": 0.25 * outputs["loss"], "rest_loss": 0.75 * outputs["loss"]}


class Checkpointed(Net):
    """Its body is run by DeepSpeed's activation checkpointing."""

    def forward(self, x, label):
        from deepspeed import checkpointing

        logits = checkpointing.checkpoint(self.body, x.requires_grad_())
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, label)}


class Rates(Hook):
    """Notes the learning rate after each iteration."""

    PRIORITY = "LOWEST"

    def __init__(self) -> None:
        self.seen: list[float] = []

    def after_train_iter(self, trainer):
        self.seen.append(trainer.optimizer.param_groups[0]["lr"])


class Stop(Hook):
    """Ends the run after its first epoch, in which nothing changes."""

    def before_train_epoch(self, trainer):
        trainer.optimizer.param_groups[0]["lr"] = 0.0
        trainer.optimizer.param_groups[0]["weight_decay"] = 0.0
        trainer._stop_training = True


def row(stage: int, config: dict[str, Any] | None = None, *more: dict[str, Any], **train: Any) -> dict[str, Any]:
    """A row of the matrix."""
    return {"hooks": [{"type": "DeepspeedHook", "zero_stage": stage, "config": config}, *more], "train": train}


def in_between(folder: Path, given: dict[str, Any]) -> dict[str, Any]:
    """A run, and one that goes on in the middle of its accumulation, with evaluations in both."""
    whole, noted = trainer_of(folder / "whole", given, 3, 2, dropout=0.2)
    whole.train()
    resumed, noted_then = trainer_of(folder / "resumed", given, 3, 2, dropout=0.2)
    resumed.train(str(shards_in(folder / "whole")))
    weights = torch.load(folder / "whole" / "output" / "pytorch_model.bin", weights_only=True)
    return {
        "whole": noted.losses[IN_BETWEEN:],
        "resumed": noted_then.losses,
        "same_weights": consolidated(folder / "whole") == consolidated(folder / "resumed"),
        "formats": sorted({str(value.dtype) for value in weights.values()}),
        "values": [whole.metric_values, resumed.metric_values],
    }


def shards_in(saved: Path) -> Path:
    """The folder of the checkpoint in between."""
    (shards,) = saved.glob(f"iter_{IN_BETWEEN}_shards_*")
    return shards


def losses_of(folder: Path, given: dict[str, Any], accumulate: int = 3, **keywords: Any) -> list[float]:
    """The losses of a run."""
    trainer, note = trainer_of(folder, given, accumulate, int(os.environ["WORLD_SIZE"]), **keywords)
    trainer.train()
    return note.losses


def schedule(folder: Path) -> list[float]:
    """Rates under a schedule of DeepSpeed's, whose length it learns from the run."""
    params = {"warmup_max_lr": "auto", "warmup_num_steps": 2, "total_num_steps": "auto", "warmup_type": "linear"}
    config = {"scheduler": {"type": "WarmupDecayLR", "params": params}}
    trainer, _ = trainer_of(folder, row(2, config, lr_scheduler=None), 3, 2)
    rates = Rates()
    trainer.register_hook(rates)
    trainer.train()
    return rates.seen


def refusals(folder: Path, saved: Path) -> dict[str, str]:
    """What is said of checkpoints that a run cannot go on from."""
    shards = shards_in(saved)
    inner = next(shards.glob("state/*.pt"))
    said = {}
    for name, stage, path in (("stage", 1, shards), ("inner", 2, inner)):
        trainer, _ = trainer_of(folder / name, row(stage), 3, 2)
        try:
            trainer.train(str(path))
        except (ValueError, FileNotFoundError) as error:
            said[name] = str(error)
    return said


def main(folder: Path) -> None:
    """Play everything in this process of two."""
    rank = int(os.environ["RANK"])
    found: dict[str, Any] = {}
    for stage in range(4):
        found[f"stage {stage}"] = in_between(folder / f"{stage}", row(stage, SECTIONS, EVALUATION))
    for stage in range(1, 4):
        found[f"bf16, stage {stage}"] = in_between(folder / f"half_{stage}", row(stage, HALF))
    parts = {"loss_keys": ["loss", "rest_loss"]}
    two = row(2, optimizer={"type": "AdamW", "lr": 0.01, "options": parts})
    found["two losses"] = losses_of(folder / "two", two, model=TwoLosses())
    found["one loss"] = losses_of(folder / "one", row(2, optimizer={"type": "AdamW", "lr": 0.01}))
    offload = {"offload_optimizer": {"device": "cpu"}}
    for stage in (2, 3):  # with torch's AdamW: DeepSpeed's own takes minutes to compile
        config = {"zero_optimization": offload, "zero_force_ds_cpu_optimizer": False}
        found[f"offloaded, {stage}"] = losses_of(folder / f"offloaded_{stage}", row(stage, config), 1)
        found[f"kept, {stage}"] = losses_of(folder / f"kept_{stage}", row(stage), 1)
    activations = {"activation_checkpointing": {"partition_activations": False}}
    found["checkpointed"] = losses_of(folder / "checkpointed", row(2, activations), model=Checkpointed())
    found["schedule"] = schedule(folder / "schedule")
    trainer, _ = trainer_of(folder / "weights_only", row(3), 3, 2)
    trainer.register_hook(Stop())
    trainer.train(str(folder / "2" / "whole" / "iter_12.pth"), load_all_state=False)
    found["weights only"] = consolidated(folder / "weights_only") == consolidated(folder / "2" / "whole")
    found["refused"] = refusals(folder / "refused", folder / "2" / "whole")
    (folder / f"{rank}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
