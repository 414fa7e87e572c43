"""The checkpoint of a ``run:`` config: one file, with the keys of the source project and what a resume needs more."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.checkpoint import files
from adapter.checkpoint.shards import KEY, remove_shards
from adapter.checkpoint.state import trainer_state
from adapter.checkpoint.weights import frozen_names, trainable_only

if TYPE_CHECKING:
    from adapter.runner.trainer import RunTrainer


def save(trainer: RunTrainer, path: Path) -> None:
    """Write ``{model, optimizer, config, scaler, epoch, adapter}``; every process calls it, the main one writes.

    ``model`` holds the trained parameters and the buffers, ``epoch`` the last one that is complete, from 0, and
    ``adapter`` what only this package knows: where exactly to go on, and with which random states.
    """
    model = trainer.unwrap_module(trainer.model)
    weights = trainable_only(model, trainer.strategy.weights(model))
    state = trainer_state(trainer, path.with_suffix(""))
    meta = state["meta"]
    saved = {
        "model": weights,
        "optimizer": state.get("optimizer"),
        "config": trainer.run_config,
        "scaler": meta["adapter"].get("loss_scale") or None,
        "epoch": meta["epoch"] - 1,
        "adapter": meta,
    }
    if trainer.is_main_process:
        files.save(saved, path)
        remove_shards(path.with_suffix(""), keep=(saved["optimizer"] or {}).get(KEY))  # of an older file of its name


def load(path: Path) -> dict[str, Any]:
    """What ``save`` wrote, or the source project.

    Raises:
        FileNotFoundError: No such file.
        ValueError: It cannot be loaded, or is no checkpoint of a run.
    """
    saved = files.load(path)
    absent = (
        [key for key in ("model", "optimizer", "epoch") if key not in saved] if isinstance(saved, dict) else ["model"]
    )
    if absent:
        raise ValueError(f"'{path}' is no checkpoint of a run: it has no '{absent[0]}'")
    return dict(saved)


def load_trained(trainer: RunTrainer, weights: Any, path: Path) -> None:
    """Put the weights of a checkpoint into the model; frozen parameters may be missing from it.

    Raises:
        ValueError: A name that only one of the two has, or a shape that does not fit; names the file.
    """
    if not isinstance(weights, Mapping):
        raise ValueError(f"'{path}' holds no weights, but a {type(weights).__name__}")
    model = trainer.unwrap_module(trainer.model)
    names = model.state_dict().keys()
    missing = [name for name in names if name not in weights and name not in frozen_names(model)]
    unknown = [name for name in weights if name not in names]
    for found, what in ((missing, "lacks"), (unknown, "holds, but the model does not have")):
        if found:
            raise ValueError(f"'{path}' does not fit the model: it {what} {', '.join(found)}")
    try:
        trainer.strategy.load_weights(model, weights, strict=False)
    except ValueError as error:
        raise ValueError(f"'{path}': {error}") from error
