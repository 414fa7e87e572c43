"""What processes have to agree on, one function each; run by every process of a launcher, which writes what it saw.

``python -m tests.distributed.scenarios FOLDER`` plays them all, one after the other.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import IterableDataset

from adapter import Hook, Metric
from adapter.lightning.datamodule import InVain, SharedLoader
from adapter.predictions import write_predictions
from tests.runs import Net, Points, Recorder, make, scripted, weights_of

METRICS: list[Any] = [
    "accuracy",
    "loss-metric",
    {"type": "tests.distributed.scenarios.Labels"},
    {"type": "torchmetrics.classification.MulticlassF1Score", "num_classes": 3},
]


class Labels(Metric):
    """A metric of a user's own: the labels it has seen."""

    def __init__(self) -> None:
        self.labels: list[int] = []

    def add(self, outputs, inputs):
        self.labels += inputs["label"].tolist()

    def evaluate(self):
        return {"labels": sorted(self.labels), "seen": len(self.labels)}

    def merge(self, other):
        self.labels += other.labels


class Stream(IterableDataset):
    """Points without a length."""

    def __init__(self, n: int) -> None:
        self.points = Points(n)

    def __iter__(self):
        return (self.points[i] for i in range(self.points.n))


class Branching(nn.Module):
    """Uses one of its heads in even batches, and both in odd ones; a different number of times on each process."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 3), nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(4)
        self.calls = 0
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(0.3 * torch.cos(torch.arange(parameter.numel())).reshape(parameter.shape))

    def forward(self, x, label):
        logits = self.first(self.norm(x))
        if self.training:
            self.calls += 1
            if self.calls % 3 == 1:  # not in the last batch of an accumulation of 3
                logits = logits + self.second(x)
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, label)}


class TwoLosses(Net):
    """Two losses, propagated one after the other."""

    def forward(self, x, label):
        outputs = super().forward(x, label)
        return {**outputs, "other_loss": outputs["logits"].square().mean()}


def evaluations(folder: Path) -> dict[str, Any]:
    """Values over 21 samples, 1 sample, and data without a length, and what `saving_fn` got here."""
    found: dict[str, Any] = {}
    cases = {
        "21": (Points(21), {}),
        "1": (Points(1), {}),
        "stream": (Stream(21), {}),
        "limited": (Stream(21), {"val_iters_per_epoch": 3}),
    }
    for name, (data, keywords) in cases.items():
        saved: list[int] = []
        trainer = make(folder / name, metrics=METRICS, eval_dataset=data, **keywords)
        values = trainer.evaluate(saving_fn=lambda inputs, outputs, saved=saved: saved.extend(inputs["label"].tolist()))
        found[name] = {"values": values, "saved": len(saved)}
    return found


def evaluation_in_a_run(folder: Path) -> dict[str, Any]:
    """Evaluations in the middle of epochs, between the batches of an accumulation, with buffers in the model."""
    hooks = [{"type": "EvaluationHook", "by_epoch": False, "interval": 1}, {"type": "TextLoggerHook", "interval": 1}]
    options = {"optimizer": {"type": "SGD", "lr": 0.1, "options": {"cumulative_iters": 3}}}
    note = Recorder("after_train_iter", lambda trainer: dict(trainer.metric_values))
    trainer = make(folder, hooks, 2, options, METRICS[:3], model=Branching(), eval_dataset=Points(5), callbacks=[note])
    trainer.train()
    return {"values": note.seen, "weights": weights_of(trainer)[: sum(p.numel() for p in trainer.model.parameters())]}


def losses_of_two(folder: Path) -> dict[str, Any]:
    """Two losses, accumulated over two iterations."""
    batch = {"batch_size_per_gpu": 4 // int(os.environ.get("WORLD_SIZE", "1")), "shuffle": False}
    options = {"cumulative_iters": 2, "loss_keys": ["loss", "other_loss"]}
    train = {"dataloader": batch, "optimizer": {"type": "SGD", "lr": 0.1, "options": options}}
    trainer = make(folder, [{"type": "TextLoggerHook", "interval": 1}], 2, train, model=TwoLosses(), samples=16)
    trainer.train()
    lines = [json.loads(line) for path in folder.glob("*.log.json") for line in path.read_text().splitlines()]
    return {"weights": weights_of(trainer), "logged": [line["loss"] for line in lines]}


def stopped_by_one(folder: Path) -> dict[str, Any]:
    """Epochs that are done when one process asks to stop, and stages that its hooks have run in."""

    class Stop(Hook):
        def after_train_iter(self, trainer):
            trainer._stop_training |= trainer.processes.rank == 1 and trainer.epoch == 1

    seen = [Recorder(stage, lambda trainer: trainer.epoch) for stage in Hook.stages[1:6]]
    trainer = make(folder, [], 5, callbacks=[Stop(), *seen])
    trainer.train()
    return {"epoch": trainer.epoch, "stages": [hook.seen for hook in seen]}


def orders(folder: Path) -> dict[str, Any]:
    """Which samples each epoch brought here, with shuffling; and those of data without a length."""
    note = Recorder("before_train_iter", lambda trainer: (trainer.epoch, trainer.data_batch["x"][:, 0].tolist()))
    train = {"dataloader": {"batch_size_per_gpu": 2, "shuffle": True}}
    make(folder / "map", [], 2, train, callbacks=[note], samples=8).train()
    streamed = Recorder("before_train_iter", lambda trainer: trainer.data_batch["x"][:, 0].tolist())
    keywords = {"train_dataset": Stream(7), "train_iters_per_epoch": 5}
    make(folder / "stream", [], 1, train, callbacks=[streamed], **keywords).train()
    return {"map": note.seen, "stream": streamed.seen}


def predictions(folder: Path) -> dict[str, Any]:
    """The file of predictions, in the order of the data."""
    trainer = make(folder, eval_dataset=None)
    trainer.build_dataset = lambda datasets, mode, preprocessor=None: Points(21)  # what the config would name
    return {"count": write_predictions(trainer, folder / "out.jsonl")}


def surroundings(folder: Path) -> dict[str, Any]:
    """Where this process is."""
    trainer = make(folder)
    trainer.evaluate()
    return {
        "rank": trainer.processes.rank,
        "size": trainer.processes.size,
        "timestamp": trainer.timestamp,
        "main": trainer.is_main_process,
        "distributed": trainer._dist,
        "group": trainer._dist and torch.distributed.get_world_size(trainer.dp_group),
    }


def talk(folder: Path) -> dict[str, Any]:
    """What the processes tell each other."""
    processes = make(folder).processes
    rank = processes.rank
    asked = [processes.ask(number, at_once) for number, at_once in ((3 * rank, False), (0, False), (4 * rank, True))]
    processes.wait()
    return {
        "broadcast": processes.broadcast(f"of {rank}"),
        "gather": processes.gather(rank),
        "gather_to_main": processes.gather_to_main(rank),
        "any": [processes.any(False), processes.any(rank == 1), processes.any(True)],
        "ask": asked,
    }


def uneven_batches(folder: Path) -> dict[str, Any]:
    """What a loader gives here that has other numbers of batches on the two processes; copies are told by a name."""
    processes = make(folder).processes
    cases = {"more": ([1, 2, 3], [4]), "none": ([], [5, 6]), "neither": ([], []), "even": ([7], [8])}
    given = {name: SharedLoader(own[processes.rank], None, processes, True) for name, own in cases.items()}
    return {
        name: [f"copy of {batch.batch}" if isinstance(batch, InVain) else batch for batch in loader]
        for name, loader in given.items()
    }


def best_restored(folder: Path) -> dict[str, Any]:
    """Weights at the end of each epoch, the second of which is the best, and once training has ended."""
    saver = {"type": "BestCkptSaverHook", "metric_key": "score", "restore_best": True}
    after = Recorder("after_train_epoch", weights_of)
    trainer = make(folder, [{"type": "EvaluationHook"}, saver], 3, metrics=scripted(1, 2, 0), callbacks=[after])
    trainer.train()
    return {"epochs": after.seen, "end": weights_of(trainer)}


SCENARIOS = (
    evaluations,
    evaluation_in_a_run,
    losses_of_two,
    stopped_by_one,
    orders,
    predictions,
    surroundings,
    talk,
    uneven_batches,
    best_restored,
)


def main(folder: Path) -> None:
    """Play all scenarios in this process of many."""
    results = {scenario.__name__: scenario(folder / scenario.__name__) for scenario in SCENARIOS}
    (folder / f"{os.environ['RANK']}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
