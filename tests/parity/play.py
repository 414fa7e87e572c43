"""Play cases on a trainer, ours or ModelScope's, and write down all that can be seen from outside.

    python -m tests.parity.play {ours,real} OUT.json [CASE ...]

Both trainers get the same arguments; `real` needs a Python that has modelscope.
"""

from __future__ import annotations

import copy
import importlib
import json
import multiprocessing
import re
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch

from tests.parity.golden.cases import CASES, MapData, StreamData, TinyNet

TIMING = {"iter_time", "data_load_time", "memory", "eta"}
TRAINERS = {"ours": ("adapter", "adapter"), "real": ("modelscope.trainers", "modelscope.trainers.hooks")}


def play(
    name: str, build_trainer: Callable[..., Any], hook: type, rewrite: Callable[[Path], None] | None = None
) -> dict[str, Any]:
    """Train one case to its end.

    Args:
        name: Of the case.
        build_trainer: Of the package that plays.
        hook: Its base class of hooks.
        rewrite: Changes the config file before it is used.

    Returns:
        `steps`: loss and learning rate of each iteration, after all hooks; `events`: stage, epoch, iter,
        inner_iter as the last hook sees them; `hook_order`; `log_json`, `log_text`: without times; `files`,
        `folders`: names in the work directory; `weights`: as float64, which holds every float32 exactly;
        `metric_values`; `checkpoint`: keys of the newest pair.
    """
    options = dict(CASES[name].get("run", {}))
    model = TinyNet(options.pop("dropout", 0.0))
    data = StreamData if options.pop("stream", False) else MapData
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "configuration.json")
        config.write_text(json.dumps(copy.deepcopy(CASES[name]["cfg"])))
        if rewrite:
            rewrite(config)
        work_dir = Path(folder, "work")
        work_dir.mkdir()
        probe, seen = make_probe(hook)
        trainer = build_trainer(
            "trainer",
            {
                "cfg_file": str(config),
                "model": model,
                "train_dataset": data(38),
                "eval_dataset": data(18),
                "device": "cpu",
                "seed": 42,
                "work_dir": str(work_dir),
                "callbacks": [probe],
                **options,
            },
        )
        trainer.train()
        weights = {key: value.double().flatten().tolist() for key, value in model.state_dict().items()}
        return {
            **seen,
            "weights": weights,
            "metric_values": trainer.metric_values,
            "hook_order": [type(each).__name__ for each in trainer.hooks],
            **read_work_dir(work_dir),
        }


def make_probe(hook: type) -> tuple[Any, dict[str, list[Any]]]:
    """A hook that runs last in every stage, and the lists it fills."""
    seen: dict[str, list[Any]] = {"events": [], "steps": []}

    def at(stage: str) -> Callable[[Any, Any], None]:
        def note(self: Any, trainer: Any) -> None:
            seen["events"].append([stage, trainer.epoch, trainer.iter, trainer.inner_iter])
            if stage == "after_train_iter":
                seen["steps"].append(
                    {
                        "loss": float(trainer.log_buffer.val_history["loss"][-1]),
                        "lr": trainer.optimizer.param_groups[0]["lr"],
                    }
                )

        return note

    methods = {stage: at(stage) for stage in hook.stages}
    return type("Probe", (hook,), {"PRIORITY": 100, **methods})(), seen


def read_work_dir(work_dir: Path) -> dict[str, Any]:
    """File names, log lines and the keys of the newest checkpoint pair."""
    stamp = re.compile(r"\d{8}_\d{6}")
    rows = [json.loads(line) for path in sorted(work_dir.glob("*.log.json")) for line in path.read_text().splitlines()]
    states = sorted(work_dir.glob("*_trainer_state.pth"), key=lambda path: path.stat().st_mtime_ns)
    pair = {}
    if states:
        weights = states[-1].with_name(states[-1].name.replace("_trainer_state", ""))
        pair = {
            "trainer_state": sorted(torch.load(states[-1], weights_only=False)),
            "model": sorted(torch.load(weights, weights_only=True)),
        }
    return {
        "files": sorted(stamp.sub("<timestamp>", path.name) for path in work_dir.iterdir()),
        "folders": {
            path.name: sorted(each.name for each in path.iterdir()) for path in work_dir.iterdir() if path.is_dir()
        },
        "log_json": [{key: value for key, value in row.items() if key not in TIMING} for row in rows],
        "log_text": [line for path in sorted(work_dir.glob("*.log")) for line in progress_lines(path.read_text())],
        "checkpoint": pair,
    }


def progress_lines(log: str) -> list[str]:
    """The lines of a .log file that report progress, from the message on, without times."""
    found = []
    for head, values in re.findall(r" - INFO - (epoch ?[\[(].*\t)(.*)", log):
        kept = [value for value in values.split(", ") if value.partition(":")[0] not in TIMING]
        found.append(head + ", ".join(kept))
    return found


def main(which: str, out: str, names: list[str]) -> None:
    """Play the named cases, or all, each in a fork: the real trainer has one log for a whole process."""
    torch.set_num_threads(1)
    build_trainer, hook = (
        getattr(importlib.import_module(module), name)
        for module, name in zip(TRAINERS[which], ("build_trainer", "Hook"), strict=True)
    )
    found = {}
    for name in names or CASES:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as fork:
            found[name] = fork.submit(play, name, build_trainer, hook).result()
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
