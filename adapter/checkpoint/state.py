"""What a checkpoint holds: the weights, and the state training needs to go on."""

from __future__ import annotations

import random
import time
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from adapter.checkpoint import files

if TYPE_CHECKING:
    from pathlib import Path

    from adapter.trainer import EpochBasedTrainer


def save_pair(trainer: EpochBasedTrainer, prefix: Path, with_trainer_state: bool = True) -> Path:
    """Write ``<prefix>.pth`` and ``<prefix>_trainer_state.pth``.

    The weights come last: a weights file with its trainer state missing is one that was asked for without it.

    Returns:
        The weights file.
    """
    if with_trainer_state:
        files.save(trainer_state(trainer), prefix.with_name(prefix.name + files.STATE_SUFFIX))
    weights = prefix.with_name(prefix.name + files.WEIGHTS_SUFFIX)
    files.save(trainer.unwrap_module(trainer.model).state_dict(), weights)
    return weights


def trainer_state(trainer: EpochBasedTrainer) -> dict[str, Any]:
    """``{meta, optimizer, lr_scheduler}``, with the keys the older trainer's loader reads.

    ``epoch``, ``iter`` and ``inner_iter`` say where to go on. ``meta.adapter`` holds what only this package knows: its
    version, the hooks' states and the whole random state.
    """
    epoch, iteration, inner_iter = trainer.next_place
    state: dict[str, Any] = {
        "meta": {
            "epoch": epoch,
            "iter": iteration,
            "inner_iter": inner_iter,
            "time": time.asctime(),
            "adapter": {
                "version": package_version(),
                "hooks": hook_states(trainer),
                "random": random_state(),
            },
        },
    }
    if trainer.optimizer is not None:
        state["optimizer"] = trainer.optimizer.state_dict()
    if trainer.lr_scheduler is not None:
        state["lr_scheduler"] = trainer.lr_scheduler.state_dict()
    return state


def hook_states(trainer: EpochBasedTrainer) -> dict[str, dict[str, Any]]:
    """State of each hook that has one, by class name and its place among hooks of that class."""
    states: dict[str, dict[str, Any]] = {}
    seen: dict[str, int] = {}
    for hook in trainer.hooks:
        name = type(hook).__name__
        seen[name] = seen.get(name, -1) + 1
        if state := hook.state_dict():
            states[f"{name}-{seen[name]}"] = state
    return states


def random_state() -> dict[str, Any]:
    """States of the random number generators of Python, numpy and torch, in types that load without running code."""
    kind, keys, *rest = np.random.get_state()
    return {
        "python": random.getstate(),
        "numpy": (kind, torch.from_numpy(np.asarray(keys).astype(np.int64)), *rest),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def package_version() -> str:
    """Version of this distribution; ``unknown`` when it runs from a source tree that was never installed."""
    try:
        return version("ms-lightning-adapter")
    except PackageNotFoundError:
        return "unknown"
