"""What Lightning's Tuner is asked to find before a run: a learning rate, a batch size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from adapter.config.config import Config
from adapter.errors import Problem
from adapter.schema.field import Doc, documented_keys
from adapter.schema.hook_list import HookPlan, section

LR, BATCH_SIZE = "train.optimizer.lr", "train.dataloader.batch_size_per_gpu"
STEPPERS = ("OptimizerHook", "TorchAMPOptimizerHook", "ApexAMPOptimizerHook")  # hooks whose steps Lightning can make
MODES = ("power", "binsearch")


@dataclass(frozen=True, kw_only=True)
class LrFind:
    """The rates that are tried, one a step; arguments of Lightning's ``Tuner.lr_find``."""

    min_lr: Annotated[float, Doc("First rate.", minimum=0)] = 1e-8
    max_lr: Annotated[float, Doc("Last rate.", minimum=0)] = 1.0
    num_training: Annotated[int, Doc("Rates to try; the first ten do not count.", unit="steps", minimum=13)] = 100
    mode: Annotated[str, Doc("How the rates grow.", choices=("exponential", "linear"))] = "exponential"
    early_stop_threshold: Annotated[
        float | None, Doc("End when the loss is so many times the best one; null tries every rate.", minimum=0)
    ] = 4.0


@dataclass(frozen=True, kw_only=True)
class ScaleBatchSize:
    """The batch sizes that are tried, until memory does not suffice; arguments of ``Tuner.scale_batch_size``."""

    mode: Annotated[str, Doc("Doubled each time, or between the last two as well.", choices=MODES)] = "power"
    steps_per_trial: Annotated[int, Doc("Steps with each size.", unit="steps", minimum=1)] = 3
    init_val: Annotated[int, Doc("First size.", unit="samples", minimum=1)] = 2
    max_trials: Annotated[int, Doc("Sizes to try.", minimum=1)] = 25
    max_val: Annotated[int, Doc("Largest size.", unit="samples", minimum=1)] = 8192


SECTIONS: Mapping[str, type] = {"lr_find": LrFind, "scale_batch_size": ScaleBatchSize}


def search_arguments(train: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    """Arguments of the search that a key of the ``train`` section asks for; None when it asks for none."""
    asked = train.get(key)
    if asked is None or asked is False:
        return None
    given = asked if isinstance(asked, Mapping) else {"mode": asked} if isinstance(asked, str) else {}
    return {name: value for name, value in given.items() if name in documented_keys(SECTIONS[key])}


def put_found(config: Config, found: Mapping[str, Any]) -> None:
    """Write what was found into a config, in place of the search; rates of parameter groups keep their ratio to it."""
    before = config.safe_get(LR)
    for group in config.safe_get("train.optimizer.param_groups") or []:
        if LR in found and "lr" in group:
            group["lr"] *= found[LR] / before
    config.merge_from_dict(found)
    for key in SECTIONS:
        config.train.pop(key, None)


def search_problems(train: Mapping[str, Any], hooks: Sequence[HookPlan], in_code: bool) -> Iterator[Problem]:
    """What keeps Lightning from making the steps of a search.

    Args:
        train: The ``train`` section.
        hooks: Those of the run.
        in_code: Whether optimizer or schedule are made in code.
    """
    asked = [key for key in SECTIONS if search_arguments(train, key) is not None]
    for key in asked:
        if in_code:
            found = "the optimizer is made in code, so a search cannot begin with one of its own"
            yield Problem(f"train.{key}", found, fix="describe it in train.optimizer, or set the value yourself")
        elif not any(hook.type in STEPPERS for hook in hooks):
            found = "the steps are made by code of yours, which Lightning's Tuner cannot make"
            yield Problem(f"train.{key}", found, fix="set the value yourself")
    if "lr_find" in asked:
        yield from _rate_problems(train)


def _rate_problems(train: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong about the rates to try, or leaves nothing to scale; values of another kind are refused as such."""
    given = section(train, "lr_find")
    lowest, highest = (given.get(name, getattr(LrFind, name)) for name in ("min_lr", "max_lr"))
    if all(isinstance(rate, (int, float)) for rate in (lowest, highest)) and not 0 < lowest < highest:
        yield Problem("train.lr_find", f"from {lowest:g} to {highest:g}", "0 < min_lr < max_lr")
    groups = section(train, "optimizer").get("param_groups")
    listed = groups if isinstance(groups, (list, tuple)) else ()
    grouped = any(isinstance(group, Mapping) and group.get("lr") is not None for group in listed)
    if grouped and not section(train, "optimizer").get("lr"):
        found = "groups have rates of their own, and there is none to scale them by"
        yield Problem("train.lr_find", found, fix=f"set {LR}, whose ratio to theirs is kept")
