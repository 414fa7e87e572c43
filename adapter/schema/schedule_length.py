"""Whether the lengths of the learning rate schedule, its warmup and the accumulation fit the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adapter.schema.hook_list import section

LENGTHS = {  # schedule -> the argument that says how long it is
    "CosineAnnealingLR": "T_max",
    "LinearLR": "total_iters",
    "PolynomialLR": "total_iters",
    "OneCycleLR": "total_steps",
}


def schedule_length(config: Mapping[str, Any], keywords: Mapping[str, Any]) -> Iterator[str]:
    """A sentence when the lengths of schedule and run are both known and differ.

    A run counted in iterations has a known length only with ``train_iters_per_epoch``.
    """
    train = section(config, "train")
    scheduler = section(train, "lr_scheduler")
    name = LENGTHS.get(str(scheduler.get("type")), "")
    length, run = scheduler.get(name), _run_length(train, keywords)
    if not isinstance(length, int) or run is None or length == run[0]:
        return
    if length > run[0]:
        yield f"train.lr_scheduler.{name} is {length}, but the run ends earlier, after {run[0]} {run[1]}"
    elif not _rises(scheduler):
        yield f"train.lr_scheduler.{name} is {length}, but the run goes on for {run[0]} {run[1]}"


def warmup_length(config: Mapping[str, Any], keywords: Mapping[str, Any]) -> Iterator[str]:
    """A sentence when the run is known to end before the warmup does, or before the first optimizer step."""
    train = section(config, "train")
    run = _run_length(train, keywords)
    for key in ("lr_scheduler.options.warmup", "lr_scheduler_hook.warmup", "lr_scheduler"):
        name = "num_warmup_steps" if key == "lr_scheduler" else "warmup_iters"
        length = section(train, key).get(name)
        if isinstance(length, int) and run is not None and length > run[0]:
            yield f"train.{key}.{name} is {length}, but the run ends earlier, after {run[0]} {run[1]}"
    iterations = _iterations(train, keywords)
    for key in ("optimizer.options", "optimizer_hook"):
        stretch = section(train, key).get("cumulative_iters")
        if isinstance(stretch, int) and iterations is not None and stretch > iterations:
            told = "but the run ends before the first optimizer step, after"
            yield f"train.{key}.cumulative_iters is {stretch}, {told} {iterations} iterations"


def _run_length(train: Mapping[str, Any], keywords: Mapping[str, Any]) -> tuple[int, str] | None:
    """Length of the run in the unit that the schedule counts in, with the unit; None when it is not known."""
    epochs = keywords.get("max_epochs") or train.get("max_epochs")
    options = {**section(train, "lr_scheduler.options"), **section(train, "lr_scheduler_hook")}
    strategy = options.get("lr_strategy") or ("by_epoch" if options.get("by_epoch", True) else "by_step")
    if isinstance(epochs, int) and strategy == "by_epoch":
        return epochs, "epochs"
    iterations = _iterations(train, keywords)
    return (iterations, "iterations") if iterations is not None and strategy == "by_step" else None


def _iterations(train: Mapping[str, Any], keywords: Mapping[str, Any]) -> int | None:
    """Iterations of the run; None when nobody says how many an epoch has."""
    epochs = keywords.get("max_epochs") or train.get("max_epochs")
    iters = keywords.get("train_iters_per_epoch") or train.get("train_iters_per_epoch")
    return epochs * iters if isinstance(epochs, int) and isinstance(iters, int) else None


def _rises(scheduler: Mapping[str, Any]) -> bool:
    """Whether LinearLR only warms up, and so is meant to end long before the run."""
    start, end = scheduler.get("start_factor", 1 / 3), scheduler.get("end_factor", 1.0)
    numbers = isinstance(start, (int, float)) and isinstance(end, (int, float))
    return numbers and scheduler.get("type") == "LinearLR" and end >= start
