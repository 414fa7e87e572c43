"""The workloads as given to an EpochBasedTrainer, ours or ModelScope's: both take the same arguments."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch
from workloads import FULL_SIZE, IterationClock, SaveMeter, make


def probes(hook: type) -> tuple[list[Any], IterationClock, SaveMeter]:
    """Hooks that take the times: from before LOW (70) to the next epoch, and at the very end of an iteration."""
    clock, meter = IterationClock(), SaveMeter()

    class EndOfIteration(hook):
        PRIORITY = 100

        def before_train_epoch(self, trainer: Any) -> None:
            clock.start_epoch()

        def after_train_iter(self, trainer: Any) -> None:
            clock.tick()

    class BeforeSaving(hook):
        PRIORITY = 69

        def after_train_epoch(self, trainer: Any) -> None:
            meter.start()

    class AfterSaving(hook):
        PRIORITY = 0

        def before_train_epoch(self, trainer: Any) -> None:
            if trainer.epoch > 0:
                meter.stop()

    return [EndOfIteration(), BeforeSaving(), AfterSaving()], clock, meter


def run(name: str, size: int, build_trainer: Callable[..., Any], hook: type) -> dict[str, float]:
    """Build the trainer, run the workload, return its times."""
    torch.set_num_threads(1)
    load = make(name, size)
    hooks, clock, meter = probes(hook)
    with tempfile.TemporaryDirectory() as work_dir:
        path = os.path.join(work_dir, "configuration.json")
        with open(path, "w") as file:
            json.dump(load.config, file)
        began = time.perf_counter()
        trainer = build_trainer(
            "trainer",
            {
                "cfg_file": path,
                "model": load.model,
                "train_dataset": load.train,
                "eval_dataset": load.evaluation,
                "device": "cpu",
                "seed": 42,
                "work_dir": work_dir,
                "callbacks": hooks,
            },
        )
        built = time.perf_counter()
        if name == "evaluate":
            trainer.evaluate()
            began = time.perf_counter()
            trainer.evaluate()
            return {"evaluate_s": time.perf_counter() - began}
        trainer.train()
        times = {"build_s": built - began, "fit_s": time.perf_counter() - built}
        return {**times, **(clock.result() if name == "fit" else meter.result())}


def main(build_trainer: Callable[..., Any], hook: type) -> None:
    """Print the times as the last line, whatever the trainer wrote before."""
    name = sys.argv[1]
    size = int(sys.argv[2]) if len(sys.argv) > 2 else FULL_SIZE[name]
    print(json.dumps(run(name, size, build_trainer, hook)))
