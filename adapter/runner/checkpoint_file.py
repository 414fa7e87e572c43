"""The checkpoint of a ``run:`` config: one file, with the keys of the source project and what a resume needs more."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import nn

from adapter.checkpoint import files
from adapter.checkpoint.state import trainer_state

if TYPE_CHECKING:
    from adapter.runner.trainer import RunTrainer


def save(trainer: RunTrainer, path: Path) -> None:
    """Write ``{model, optimizer, config, scaler, epoch, adapter}``.

    ``model`` holds the trained parameters and the buffers, ``epoch`` the last one that is complete, from 0, and
    ``adapter`` what only this package knows: where exactly to go on, and with which random states.
    """
    state = trainer_state(trainer)
    meta = state["meta"]
    saved = {
        "model": trained_state(trainer.unwrap_module(trainer.model)),
        "optimizer": state.get("optimizer"),
        "config": trainer.run_config,
        "scaler": meta["adapter"].get("loss_scale") or None,
        "epoch": meta["epoch"] - 1,
        "adapter": meta,
    }
    files.save(saved, path)


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


def trained_state(model: nn.Module) -> dict[str, Any]:
    """The state of a model less its frozen parameters."""
    frozen = frozen_names(model)
    return {name: value for name, value in model.state_dict().items() if name not in frozen}


def load_trained(model: nn.Module, weights: Any, path: Path) -> None:
    """Put the weights of a checkpoint into a model; frozen parameters may be missing from it.

    Raises:
        ValueError: A name that only one of the two has, or a shape that does not fit; names the file.
    """
    if not isinstance(weights, Mapping):
        raise ValueError(f"'{path}' holds no weights, but a {type(weights).__name__}")
    try:
        result = model.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise ValueError(f"the weights in '{path}' do not fit the model: {error}") from error
    missing = [name for name in result.missing_keys if name not in frozen_names(model)]
    for names, what in ((missing, "lacks"), (result.unexpected_keys, "holds, but the model does not have")):
        if names:
            raise ValueError(f"'{path}' does not fit the model: it {what} {', '.join(names)}")


def frozen_names(model: nn.Module) -> set[str]:
    """Names of the parameters that are not trained."""
    return {name for name, parameter in model.named_parameters() if not parameter.requires_grad}
