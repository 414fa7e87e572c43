"""Kill runs with SIGKILL at random places, resume them from their newest pair, and compare with runs left alone.

    python -m tests.stress.resume_kills [--runs 50] [--seed 0]

Losses, rates, log lines, weights, checkpoints and the set of files have to be equal, bit for bit.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import multiprocessing
import os
import random
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from adapter import Hook, build_trainer
from adapter.checkpoint import files
from adapter.run_log import console_logger
from tests.parity.golden import cases

SAMPLES, KILLS = 38, 3
PASSING = {"time", "saved", "iter_time", "data_load_time"}  # keys that no two runs share
FORK = multiprocessing.get_context("fork")


class Augmented(Dataset):
    """Samples with noise from each of the generators."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        sample = cases.sample(index)
        noise = float(torch.rand(1)) + np.random.rand() + random.random()
        return {**sample, "feat": sample["feat"] + 0.1 * noise}


def case(*hooks: Mapping[str, Any], epochs: int = 2, keep: int | None = None, **train: Any) -> dict[str, Any]:
    """A config that saves every third iteration."""
    saver = {"type": "CheckpointHook", "interval": 3, "by_epoch": False, "max_checkpoint_num": keep}
    text = {"type": "TextLoggerHook", "interval": 3}
    return cases.base(epochs, {"hooks": [saver, text, {"type": "IterTimerHook"}, *hooks], **train})


def schedule(kind: str, by_epoch: bool, warmup: str, **arguments: Any) -> dict[str, Any]:
    """A learning rate schedule with warmup over three epochs or iterations."""
    options = {"by_epoch": by_epoch, "warmup": {"type": warmup, "warmup_iters": 3}}
    return {"type": kind, "options": options, **arguments}


EVALUATION, BEST = {"type": "EvaluationHook"}, {"type": "BestCkptSaverHook", "metric_key": "accuracy"}
EVERY_FOURTH = {**EVALUATION, "by_epoch": False, "interval": 4}
ACCUMULATION = {"type": "AdamW", "lr": 0.01, "options": {"cumulative_iters": 4, "grad_clip": {"max_norm": 0.5}}}
PLATEAU = {"type": "ReduceLROnPlateau", "mode": "max", "factor": 0.1, "patience": 0}
STOP = {"type": "EarlyStopHook", "metric_key": "accuracy", "patience": 2}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # name -> config, keywords
    "shuffle and dropout, two pairs kept": (case(keep=2), {}),
    "accumulation across the stop": (case(optimizer=ACCUMULATION), {}),
    "warmup by step": (
        case(lr_scheduler=schedule("CosineAnnealingLR", False, "LinearWarmup", T_max=20)),
        {},
    ),
    "warmup by epoch": (
        case(epochs=5, lr_scheduler=schedule("StepLR", True, "ExponentialWarmup", step_size=1)),
        {},
    ),
    "plateau": (
        case(
            EVERY_FOURTH,
            epochs=3,
            lr_scheduler=PLATEAU,
            lr_scheduler_hook={"type": "PlateauLrSchedulerHook", "metric_key": "accuracy"},
        ),
        {},
    ),
    "best saver": (case(EVERY_FOURTH, {**BEST, "max_checkpoint_num": 2, "restore_best": True}), {}),
    "best saver, one name": (case(EVERY_FOURTH, {**BEST, "save_file_name": "best"}), {}),
    "early stop": (case(EVALUATION, STOP, epochs=9, optimizer={"type": "SGD", "lr": 1e-4}), {}),
    "iterable": (
        case(EVALUATION),
        {"train_dataset": cases.StreamData(SAMPLES), "train_iters_per_epoch": 8, "val_iters_per_epoch": 3},
    ),
    "two workers, random augmentation": (
        case(dataloader=cases.loader(4, 2)),
        {"train_dataset": Augmented()},
    ),
}


class Steps(Hook):
    """Writes place, loss and rate of each iteration to a file, as the process may not live to tell."""

    PRIORITY = "LOWEST"

    def __init__(self, path: Path) -> None:
        self.path = path

    def after_train_iter(self, trainer: Any) -> None:
        row = [trainer.iter, trainer.epoch, trainer.inner_iter, float(trainer.train_outputs["loss"].detach())]
        with self.path.open("a") as file:
            file.write(json.dumps([*row, trainer.optimizer.param_groups[0]["lr"]]) + "\n")


class Kill(Hook):
    """Ends the process as ``kill -9`` does, at a stage of an iteration, between two of the other hooks."""

    def __init__(self, iteration: int, stage: str, priority: int) -> None:
        self.PRIORITY = priority
        self.iteration = iteration
        setattr(self, stage, self.kill)

    def kill(self, trainer: Any) -> None:
        if trainer.iter >= self.iteration:
            os.kill(os.getpid(), signal.SIGKILL)


def train(name: str, folder: Path, checkpoint: str | None, kill: Kill | None) -> None:
    """One process of a run: it leaves ``folder/steps`` and, if it reaches the end, ``folder/weights.bin``."""
    config, keywords = CASES[name]
    arguments = {
        "cfg_file": config,
        "model": cases.TinyNet(dropout=0.3),
        "train_dataset": cases.MapData(SAMPLES),
        "eval_dataset": cases.StreamData(18) if "val_iters_per_epoch" in keywords else cases.MapData(18),
        "device": "cpu",
        "work_dir": str(folder / "work"),
        "callbacks": [Steps(folder / "steps"), *([kill] if kill else [])],
    }
    trainer = build_trainer("trainer", {**arguments, **keywords})
    trainer.train(checkpoint)
    files.save(trainer.model.state_dict(), folder / "weights.bin")


def in_a_process(*arguments: Any) -> int:
    """Exit status of ``train`` in a fork of this process."""
    process = FORK.Process(target=train, args=arguments)
    process.start()
    process.join()
    return process.exitcode or 0


def left_alone(name: str, folder: Path) -> list[list[dict[str, Any]]]:
    """A whole run; its log lines."""
    folder.mkdir()
    assert in_a_process(name, folder, None, None) == 0
    return [take_lines(folder)]


def killed(name: str, folder: Path, steps: int, dice: random.Random) -> list[list[dict[str, Any]]]:
    """A run of as many steps that is killed up to three times; the log lines of each of its processes."""
    folder.mkdir()
    (folder / "work").mkdir()
    lines, checkpoint = [], None
    for _ in range(dice.randint(1, KILLS)):
        done, before = iterations_of(checkpoint), len(rows(folder))
        if done >= steps:
            break
        stage = dice.choice(["before_train_iter", "after_train_iter"])
        kill = Kill(dice.randrange(done, steps), stage, dice.randint(0, 100))
        assert in_a_process(name, folder, checkpoint, kill) == -signal.SIGKILL
        check_beginning(rows(folder)[before:], done)
        lines.append(take_lines(folder))
        try:
            checkpoint = str(files.newest_pair(folder / "work"))
        except FileNotFoundError:
            checkpoint = None  # killed before the first pair was whole: the run starts again
    done, before = iterations_of(checkpoint), len(rows(folder))
    assert in_a_process(name, folder, checkpoint, None) == 0
    check_beginning(rows(folder)[before:], done)
    return [*lines, take_lines(folder)]


def iterations_of(checkpoint: str | None) -> int:
    """Iterations that a pair has behind it; 0 without one."""
    return 0 if checkpoint is None else int(files.load(files.pair(checkpoint)[1])["meta"]["iter"])


def check_beginning(written: list[Any], done: int) -> None:
    """A process goes on where its pair was saved: one that began anew would come to the same end."""
    assert not written or written[0][0] == done, f"went on at {written[0][0]}, not at {done}"


def take_lines(folder: Path) -> list[dict[str, Any]]:
    """The log lines of a process, without times; the logs go, so that the next process has its own."""
    logs = sorted((folder / "work").glob("*.log*"))
    lines = [json.loads(line) for log in logs if log.suffix == ".json" for line in log.read_text().splitlines()]
    for log in logs:
        log.unlink()
    return [{key: value for key, value in line.items() if key not in PASSING} for line in lines]


def differences(whole: Path, lines: list[Any], other: Path, parts: list[list[Any]]) -> list[str]:
    """What is not the same in a run that was left alone and one that was killed; nothing when all is."""
    found = [f"log lines of process {n}" for n in gaps(lines, parts)]
    steps = {row[0]: row for row in rows(whole)}
    again = rows(other)
    if any(steps.get(row[0]) != row for row in again) or {row[0] for row in again} != set(steps):
        found.append("losses and rates")
    names = [{str(path.relative_to(folder)) for path in folder.rglob("*")} for folder in (whole, other)]
    found += [f"file {name}" for name in names[0] ^ names[1]]
    for name in sorted(name for name in names[0] & names[1] if name.endswith((".pth", ".bin"))):
        if not same(*(files.load(folder / name) for folder in (whole, other))):
            found.append(f"content of {name}")
    return found


def rows(folder: Path) -> list[Any]:
    """What ``Steps`` wrote."""
    path = folder / "steps"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def gaps(lines: list[Any], parts: list[list[Any]]) -> list[int]:
    """Numbers of the processes whose lines do not continue, or repeat, the lines before; none may be missing."""
    reached, wrong = 0, []
    for number, part in enumerate(parts):
        starts = [k for k in range(reached + 1) if lines[k : k + len(part)] == part]
        if not starts:
            wrong.append(number)
            continue
        reached = max(reached, starts[-1] + len(part))
    return wrong if reached == len(lines) else [*wrong, len(parts) - 1]


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal to the last bit, but for times."""
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and torch.equal(one, other)
    if isinstance(one, Mapping):
        keys = [key for key in one if key not in PASSING]
        return [key for key in other if key not in PASSING] == keys and all(same(one[k], other[k]) for k in keys)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(itertools.starmap(same, zip(one, other, strict=True)))
    return bool(one == other) or (one != one and other != other)


def main() -> int:
    """Exit status 0 when every run was equal."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    console_logger().handlers[0].setLevel(logging.ERROR)
    dice, equal = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as home:
        Path(home, "warm").mkdir()
        train(next(iter(CASES)), Path(home, "warm"), None, None)  # what is imported now need not be in each process
        wholes: dict[str, Any] = {}
        for number, name in zip(range(options.runs), itertools.cycle(CASES), strict=False):
            whole = Path(home, name)
            if name not in wholes:
                (wholes[name],) = left_alone(name, whole)
            other = Path(home, str(number))
            parts = killed(name, other, len(rows(whole)), dice)
            found = differences(whole, wholes[name], other, parts)
            equal += not found
            print(f"{number + 1:3} {name}, {len(parts) - 1} kills: {', '.join(found) or 'equal'}", flush=True)
    print(f"{equal} of {options.runs} equal")
    return 0 if equal == options.runs else 1


if __name__ == "__main__":
    sys.exit(main())
