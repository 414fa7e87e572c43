"""Kill a process with SIGKILL while it saves, over and over; the newest whole pair has to load every time.

python -m tests.stress.save_kills [--saves 100] [--megabytes 100] [--seed 0]
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

from adapter import Hook, build_trainer
from adapter.checkpoint import files
from adapter.run_log import console_logger
from tests.parity.golden import cases

FORK = multiprocessing.get_context("fork")


class Wide(cases.TinyNet):
    """TinyNet beside weights that all hold the number of the iteration they were saved in."""

    def __init__(self, megabytes: int) -> None:
        super().__init__()
        self.ballast = nn.Parameter(torch.zeros(megabytes, 2**18), requires_grad=False)


class Tell(Hook):
    """Marks the weights before each save, and tells the parent process that the save begins."""

    PRIORITY = "NORMAL"

    def __init__(self, pipe: Any) -> None:
        self.pipe = pipe

    def after_train_iter(self, trainer: Any) -> None:
        trainer.model.ballast.fill_(trainer.iter + 1)
        self.pipe.send(trainer.iter + 1)


def train(folder: Path, megabytes: int, checkpoint: str | None, pipe: Any, epochs: int = 100_000) -> None:
    """Save in each iteration, two pairs kept, until killed."""
    saver = {"type": "CheckpointHook", "interval": 1, "by_epoch": False, "max_checkpoint_num": 2}
    config = cases.base(epochs, {"hooks": [saver]})
    arguments = {
        "cfg_file": config,
        "model": Wide(megabytes),
        "train_dataset": cases.MapData(38),
        "device": "cpu",
        "work_dir": str(folder),
        "callbacks": [Tell(pipe)],
    }
    build_trainer("trainer", arguments).train(checkpoint)


def killed_while_saving(folder: Path, megabytes: int, checkpoint: str | None, delay: float) -> int:
    """Run on, and kill after a save has begun and a delay has passed; returns the iteration of the last save begun."""
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=train, args=(folder, megabytes, checkpoint, theirs))
    process.start()
    begun: int = ours.recv()
    time.sleep(delay)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    while ours.poll():
        begun = ours.recv()
    return begun


def check(folder: Path, begun: int, last: int) -> tuple[Path, int]:
    """The newest whole pair and its iteration: not older than the one before, both of its files of one moment."""
    path = files.newest_pair(folder)
    weights, state = files.pair(path)
    iteration = files.load(state or path)["meta"]["iter"]
    ballast = files.load(weights)["ballast"]
    if not (ballast == iteration).all() or not max(begun - 1, last) <= iteration <= begun:
        raise ValueError(f"{path.name} is of iteration {iteration}, holds {ballast.min()} to {ballast.max()}")
    return path, iteration


def main() -> int:
    """Exit status 0 when a whole pair was there after every kill."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--saves", type=int, default=100)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    console_logger().handlers[0].setLevel(logging.CRITICAL)
    dice, loaded, partial = random.Random(options.seed), 0, 0
    with tempfile.TemporaryDirectory() as home:
        ends = FORK.Pipe()
        train(Path(home, "warm"), 1, None, ends[1], epochs=1)  # what is imported now need not be later
        folder, checkpoint, last, began = Path(home, "work"), None, 0, time.perf_counter()
        files.save(Wide(options.megabytes).state_dict(), Path(home, "trial.bin"))
        seconds = 1.5 * (time.perf_counter() - began) + 0.02  # a save with all that belongs to it
        kills = 0
        while kills < options.saves:
            begun = killed_while_saving(folder, options.megabytes, checkpoint, dice.uniform(0, seconds))
            partial += any(folder.glob(".*.part"))
            try:
                path, last = check(folder, begun, last)
            except (FileNotFoundError, ValueError) as error:
                if begun > 1 or isinstance(error, ValueError):
                    kills += 1
                    print(f"after the save of iteration {begun}: {error}")
                continue  # in the first save of all there is no pair yet, and nothing to be shown
            kills, loaded, checkpoint = kills + 1, loaded + 1, str(path)
    print(f"{loaded} of {options.saves} kills left a whole pair; {partial} came in the middle of a file")
    return 0 if loaded == options.saves else 1


if __name__ == "__main__":
    sys.exit(main())
