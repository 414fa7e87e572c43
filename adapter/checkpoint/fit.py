"""Whether a checkpoint fits a run, as far as it can be known before the run begins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.checkpoint import files
from adapter.checkpoint.steppers import class_names, each

if TYPE_CHECKING:
    from torch import nn

    from adapter.trainer import EpochBasedTrainer


def check_fit(trainer: EpochBasedTrainer, path: str | os.PathLike[str], load_all_state: bool) -> None:
    """Refuse a checkpoint of another model or optimizer; nothing is loaded into either.

    Args:
        trainer: Its optimizer may not exist yet, and is not compared then.
        path: Either file of a pair, its prefix, or weights.
        load_all_state: Whether the run that wrote it is to go on.

    Raises:
        FileNotFoundError: No such checkpoint.
        ValueError: It is damaged, or does not fit.
    """
    weights, state = files.pair(path)
    goes_on = load_all_state and state is not None
    _check_weights(trainer.unwrap_module(trainer.model), files.load(weights, mmap=True), weights, goes_on)
    if goes_on and state is not None and trainer.optimizer is not None:
        _check_optimizer(trainer.optimizer, files.load(state, "trainer state", mmap=True), state)


def refuse_other_optimizer(found: Any, optimizer: Any, path: Path) -> None:
    """Refuse the state of an optimizer of another class.

    Args:
        found: What the trainer state says the class was; None when it does not say.
        optimizer: This run's.
        path: The trainer state.

    Raises:
        ValueError: The classes differ.
    """
    used = class_names(optimizer)
    if found not in (None, used):
        raise ValueError(
            f"'{path}' holds the state of {found}, but this run uses {used}; use the same "
            "optimizer, or start from the weights only (--weights-only, or load_all_state=False)"
        )


def _check_weights(model: nn.Module, weights: Any, path: Path, goes_on: bool) -> None:
    """Names in common must have the same shapes; a run that goes on must have some in common."""
    held = weights.get("state_dict") if isinstance(weights, Mapping) else None
    weights = held if isinstance(held, Mapping) else weights
    if not isinstance(weights, Mapping):
        return  # refused, with a reason, when it is loaded
    own = model.state_dict(keep_vars=True)  # the parameters themselves, which know of the whole they are a part of
    common = {name: value for name, value in weights.items() if name in own and hasattr(value, "shape")}
    if goes_on and own and not common:
        raise ValueError(f"'{path}' holds the weights of another model: no name of them is in this run's model")
    for name, value in common.items():
        shape = getattr(own[name], "ds_shape", getattr(own[name], "shape", value.shape))
        if shape != value.shape:
            there, here = tuple(value.shape), tuple(shape)
            raise ValueError(f"'{path}': the weights do not fit the model: {name} has the shape {there}, not {here}")


def _check_optimizer(optimizer: Any, state: Any, path: Path) -> None:
    """The class, and how many parameters each group has."""
    meta = state.get("meta") if isinstance(state, Mapping) else None
    own = meta.get("adapter") if isinstance(meta, Mapping) else None
    refuse_other_optimizer((own or {}).get("optimizer"), optimizer, path)
    held = (state.get("optimizer") if isinstance(state, Mapping) else None) or {}
    if "param_groups" not in held or isinstance(optimizer, Mapping):
        return
    there = [len(group["params"]) for group in held["param_groups"]]
    here = [len(group["params"]) for (one,) in [each(optimizer)] for group in one.param_groups]
    if there != here:
        raise ValueError(
            f"the optimizer in '{path}' does not fit this run's {class_names(optimizer)}: its groups have {there} "
            f"parameters, not {here}"
        )
