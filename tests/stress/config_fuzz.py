"""Break configs at random: each has to run, or to be refused with a ConfigError that names a key.

    python -m tests.stress.config_fuzz [--examples 2000] [--seed 0]

Keys are dropped, renamed and added, values swapped for other types, out of range, or nested garbage.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import logging
import os
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from adapter import ConfigError, Hook, build_trainer
from adapter.explain import explain_plan
from adapter.prepare import load, prepare
from adapter.run_log import console_logger

BATCH = 10  # configs from one seed: hypothesis builds later ones from earlier ones
ENOUGH = 6  # iterations after which a run counts as one
ROWS = ["x0,x1,x2,x3,label", *(f"{i % 5},{i % 3},{i % 2},1,{i % 3}" for i in range(9))]
DATA = {"type": "csv", "file": "data.csv", "features": "x*", "label": "label"}
LOADER = {"batch_size_per_gpu": 4, "workers_per_gpu": 0}
COMMON = {
    "task": "image-classification",
    "model": {"type": "mlp-classifier", "in_features": 4, "hidden": [8], "num_classes": 3},
    "dataset": {"train": DATA, "val": DATA},
}
NEW_KEYS = {
    **COMMON,
    "train": {
        "max_epochs": 2,
        "dataloader": {**LOADER, "shuffle": True, "pin_memory": False, "drop_last": False},
        "optimizer": {
            "type": "AdamW",
            "lr": 0.01,
            "weight_decay": 0.1,
            "betas": [0.9, 0.99],
            "options": {"cumulative_iters": 2, "grad_clip": {"max_norm": 1.0, "norm_type": 2}, "loss_keys": "loss"},
        },
        "lr_scheduler": {
            "type": "CosineAnnealingLR",
            "T_max": 6,
            "options": {
                "by_epoch": False,
                "warmup": {"type": "LinearWarmup", "warmup_iters": 2, "warmup_ratio": 0.1},
            },
        },
        "checkpoint": {
            "period": {"interval": 2, "by_epoch": False, "max_checkpoint_num": 1, "save_last": True},
            "best": {"metric_key": "accuracy", "rule": "max", "restore_best": True},
        },
        "logging": {"interval": 1, "by_epoch": True, "ignore_last": True, "rounding_digits": 5},
        "hooks": [{"type": "EarlyStopHook", "metric_key": "accuracy", "patience": 3, "min_delta": 0.0}],
    },
    "evaluation": {
        "dataloader": {**LOADER, "shuffle": False},
        "metrics": [{"type": "seq-cls-metric"}, "loss-metric"],
        "period": {"interval": 1, "by_epoch": True, "start_idx": 0},
    },
}
OLD_KEYS = {
    **COMMON,
    "train": {
        "work_dir": "work",
        "max_epochs": 2,
        "train_iters_per_epoch": 2,
        "dataloader": LOADER,
        "optimizer": {"type": "SGD", "lr": 0.1, "momentum": 0.9},
        "lr_scheduler": {"type": "ReduceLROnPlateau", "mode": "max", "factor": 0.1, "patience": 0},
        "optimizer_hook": {"type": "OptimizerHook", "cumulative_iters": 1, "grad_clip": {"max_norm": 2.0}},
        "lr_scheduler_hook": {"type": "PlateauLrSchedulerHook", "metric_key": "accuracy"},
        "hooks": [
            {"type": "CheckpointHook", "interval": 1, "save_trainer_state": True},
            {"type": "BestCkptSaverHook", "metric_key": "accuracy", "save_file_name": "best"},
            {"type": "TextLoggerHook", "interval": 1},
            {"type": "IterTimerHook"},
            {"type": "EvaluationHook", "interval": 1},
            {"type": "TensorboardHook", "interval": 1},
        ],
    },
    "evaluation": {"val_iters_per_epoch": 2, "dataloader": LOADER, "metrics": "accuracy"},
}
FLAT = {
    **COMMON,
    "train": {
        "max_epochs": 2,
        "batch_size": 4,
        "learning_rate": 0.01,
        "lr_scheduler_type": "cosine",
        "num_steps": 6,
        "optimizer": {"type": "Adam"},
        "hooks": [{"type": "EvaluationHook", "interval": 1}],
    },
    "evaluation": {"batch_size": 4, "metrics": ["accuracy"]},
}
BASES = [json.loads(json.dumps(config)) for config in (NEW_KEYS, OLD_KEYS, FLAT)]  # no part is shared
WORDS = ["", "a", "loss", "accuracy", "no", "by_step", "mean", "1e-3", "True", "None", "../..", "é\x00"]
NUMBERS = [-1, 0, 1, 2, 3.5, -0.0, 1e-30, 1e30, 10**12, float("nan"), float("inf"), -float("inf"), True, False]
SCALARS = st.one_of(st.none(), st.sampled_from(NUMBERS), st.sampled_from(WORDS))
GARBAGE = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["type", "a", "lr", ""]), inner, max_size=3)
    ),
    max_leaves=4,
)
PROCESSES = "workers_per_gpu"  # only ever small: the machine would take a great number at its word
Path_ = tuple[Any, ...]


class Enough(Exception):
    """The run has trained for some iterations."""


class Stop(Hook):
    """Ends a run that would go on for long."""

    def before_train_iter(self, trainer: Any) -> None:
        if trainer.iter >= ENOUGH:
            raise Enough


def paths(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Path of each value in a config, but for the config itself."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from paths(item, (*path, key))


@st.composite
def broken_configs(draw: st.DrawFn) -> tuple[dict[str, Any], list[str]]:
    """A config with one to three changes, and what they are."""
    config = copy.deepcopy(draw(st.sampled_from(BASES)))
    changes = [change(draw, config) for _ in range(draw(st.sampled_from([1, 1, 2, 3])))]
    return config, changes


def change(draw: st.DrawFn, config: dict[str, Any]) -> str:
    """Break one place of a config; returns what was done."""
    every = list(paths(config))
    if not every:
        return "nothing left"
    path = draw(st.sampled_from(every))
    parent: Any = config
    for key in path[:-1]:
        parent = parent[key]
    last, what = path[-1], draw(st.sampled_from(["drop", "replace", "replace", "other", "rename", "add"]))
    if what == "drop":
        del parent[last]
        return f"{path} dropped"
    if what == "rename" and isinstance(parent, dict):
        name = draw(st.sampled_from([f"{last}s", str(last).upper(), "type", "", "x.y"]))
        parent[name] = parent.pop(last)
        return f"{path} renamed {name!r}"
    if what == "add" and isinstance(parent[last], dict):
        name, value = draw(st.sampled_from(KNOWN)), draw(GARBAGE)
        parent[last][name] = value if name != PROCESSES else 1
        return f"{path} got {name!r}: {value!r}"
    if what == "other":  # a value from another place of the config
        other: Any = config
        for key in draw(st.sampled_from(every)):
            other = other[key]
        value = copy.deepcopy(other)
    else:
        value = draw(GARBAGE)
    if last == PROCESSES and not isinstance(value, bool) and isinstance(value, int):
        value = min(value, 1)
    parent[last] = value
    return f"{path} = {value!r}"


KNOWN = sorted({str(path[-1]) for base in BASES for path in paths(base) if isinstance(path[-1], str)})


def outcome(config: dict[str, Any], folder: Path) -> str:
    """``ran``, or ``refused`` with a key.

    Raises:
        Exception: Whatever else a config led to: a fault.
    """
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    try:
        explain_plan(prepare(load(str(path))), False)
        arguments = {"cfg_file": str(path), "work_dir": "work", "device": "cpu", "callbacks": [Stop()]}
        build_trainer(default_args=arguments).train()
    except Enough:
        return "ran"
    except ConfigError as error:
        if not all(problem.key for problem in error.problems):
            raise RuntimeError(f"no key is named: {error}") from error
        return "refused"
    return "ran"


@contextlib.contextmanager
def workshop() -> Iterator[Path]:
    """A folder with the data, in which to run quietly."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as home, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Path(home, "data.csv").write_text("\n".join(ROWS))
        console_logger().handlers[0].setLevel(logging.CRITICAL)
        os.chdir(home)
        try:
            yield Path(home)
        finally:
            os.chdir(before)
            console_logger().handlers[0].setLevel(logging.NOTSET)


def fuzz(examples: int, start: int = 0) -> tuple[Counter[str], dict[str, str]]:
    """Break that many configs; the outcomes, and for each kind of fault an example."""
    outcomes: Counter[str] = Counter()
    faults: dict[str, str] = {}

    def one(broken: tuple[dict[str, Any], list[str]]) -> None:
        config, changes = broken
        try:
            outcomes[outcome(config, folder)] += 1
        except Exception as error:  # any of them is a fault, and the next example may show another
            outcomes["faults"] += 1
            frame = next(
                (f for f in reversed(traceback.extract_tb(error.__traceback__)) if "/adapter/" in f.filename),
                traceback.extract_tb(error.__traceback__)[-1],
            )
            where = f"{type(error).__name__} below {Path(frame.filename).name}:{frame.lineno} {frame.name}"
            faults.setdefault(where, f"{str(error)[:300]}\n    {changes}")

    few = settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    with workshop() as folder:
        for number in range(-(-examples // BATCH)):
            seed(start + number)(few(given(broken_configs())(one)))()
    return outcomes, faults


def main() -> int:
    """Exit status 0 without faults."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    outcomes, faults = fuzz(options.examples, options.seed)
    for where, example in faults.items():
        print(f"{where}\n    {example}")
    print(f"{sum(outcomes.values())} configs: {', '.join(f'{n} {what}' for what, n in sorted(outcomes.items()))}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
