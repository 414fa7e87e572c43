"""The matrix: one small run under each strategy, with and without accumulation, alone and resumed.

A strategy is one row of ROWS. ``python -m tests.distributed.matrix FOLDER`` plays all rows in each process of a
launcher, one after the other, and writes what came of them to ``FOLDER/<rank>.json``; the tests compare.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from adapter import Hook
from tests.runs import Points, make

ACCUMULATE = (1, 3)
GLOBAL_BATCH = 4
SAMPLES, EPOCHS, STOP_AT = 16, 3, 6  # 4 iterations an epoch; the resumed run starts in the middle of the second

PLAN = {"tensor_parallel_plan": {"body.0": "colwise", "body.3": "rowwise"}}

# Name -> {hooks: entries of train.hooks, train: further keys of `train`, trainer: keywords of the trainer,
# shares: how many shares the batch is dealt to, or None for one a process}
ROWS: dict[str, dict[str, Any]] = {
    "ddp": {"hooks": [{"type": "DDPHook"}]},
    "fsdp": {"hooks": [{"type": "FSDPHook", "wrap_classes": "Linear"}]},
    "tensor_parallel": {"hooks": [{"type": "MegatronHook", "tensor_model_parallel_size": 2, **PLAN}], "shares": 1},
    **{f"deepspeed-{stage}": {"hooks": [{"type": "DeepspeedHook", "zero_stage": stage}]} for stage in range(4)},
}


class Net(nn.Module):
    """forward(x: (B, 4) float32, label: (B,) int64) -> {logits, loss}; weights by formula, dropout when asked for."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 4))
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(0.3 * torch.cos(torch.arange(parameter.numel())).reshape(parameter.shape))

    def forward(self, x, label):
        logits = self.body(x)
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, label)}


class Note(Hook):
    """Notes the mean loss over the processes of each iteration."""

    PRIORITY = "HIGHEST"

    def __init__(self) -> None:
        self.losses: list[float] = []

    def after_train_iter(self, trainer):
        own = float(trainer.train_outputs["loss"].detach())
        everybody = trainer.processes.gather(own)
        self.losses.append(sum(everybody) / len(everybody))


def trainer_of(
    folder: Path, row: Mapping[str, Any], accumulate: int, processes: int, dropout: float = 0.0, **keywords: Any
) -> tuple[Any, Note]:
    """A trainer under a row, and its notes; shuffled when there is dropout."""
    note = Note()
    batch = GLOBAL_BATCH // (row.get("shares") or processes)
    train = {
        "dataloader": {"batch_size_per_gpu": batch, "workers_per_gpu": 0, "shuffle": dropout > 0},
        "optimizer": {
            "type": "AdamW",
            "lr": 0.01,
            "options": {"cumulative_iters": accumulate, "grad_clip": {"max_norm": 0.5}},
        },
        **row.get("train", {}),
    }
    hooks = [{"type": "CheckpointHook", "interval": 1, "by_epoch": False}, *row.get("hooks", [])]
    given = {"model": Net(dropout), "train_dataset": Points(SAMPLES), **row.get("trainer", {}), **keywords}
    return make(folder, hooks, EPOCHS, train, callbacks=[note], **given), note


def play(folder: Path, row: Mapping[str, Any], accumulate: int, processes: int) -> dict[str, Any]:
    """What comes of a row: an even run, and one with shuffling and dropout, whole and resumed in its middle."""
    even, note = trainer_of(folder / "even", row, accumulate, processes)
    even.train()
    whole, whole_note = trainer_of(folder / "whole", row, accumulate, processes, dropout=0.2)
    whole.train()
    resumed, resumed_note = trainer_of(folder / "resumed", row, accumulate, processes, dropout=0.2)
    resumed.train(str(folder / "whole" / f"iter_{STOP_AT}.pth"))
    return {
        "losses": note.losses,
        "weights": consolidated(folder / "even"),
        "whole": whole_note.losses[STOP_AT:],
        "resumed": resumed_note.losses,
        "whole_weights": consolidated(folder / "whole"),
        "resumed_weights": consolidated(folder / "resumed"),
        "evaluated": even.evaluate(),
    }


def consolidated(folder: Path) -> dict[str, list[float]]:
    """The weights in the output folder of a run."""
    weights = torch.load(folder / "output" / "pytorch_model.bin", weights_only=True)
    return {name: value.flatten().tolist() for name, value in weights.items()}


def main(folder: Path, names: list[str]) -> None:
    """Play rows in this process of many; an error of a row is its result."""
    rank, processes = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    results: dict[str, Any] = {}
    for name in names or ROWS:
        for accumulate in ACCUMULATE:
            key = f"{name}-{accumulate}"
            try:
                results[key] = play(folder / key, ROWS[name], accumulate, processes)
            except Exception:  # the test shows it
                results[key] = {"error": traceback.format_exc()}
    (folder / f"{rank}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
