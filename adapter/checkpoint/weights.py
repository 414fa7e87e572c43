"""Weights of a checkpoint, put into a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

NAMES_SHOWN = 5


def trainable_only(model: nn.Module, weights: Mapping[str, Any]) -> dict[str, Any]:
    """The weights less those of the parameters that are not trained."""
    frozen = frozen_names(model)
    return {name: value for name, value in weights.items() if name not in frozen}


def load_weights(model: nn.Module, weights: Mapping[str, Any], strict: bool = False) -> list[str]:
    """Put weights into a model.

    Args:
        model: The model.
        weights: Name to tensor; or a mapping that holds them as ``state_dict``. When all that is missing are the
            parameters that are not trained, those stay as they are.
        strict: Refuse names that only one side has.

    Returns:
        A sentence for the names missing from the weights and one for those the model does not have.

    Raises:
        ValueError: A shape that does not fit, or with ``strict`` a name.
    """
    if not isinstance(weights, Mapping):
        raise ValueError(f"no weights there: expected names and tensors, found {type(weights).__name__}")
    if isinstance(weights.get("state_dict"), Mapping):
        weights = weights["state_dict"]
    try:
        result = model.load_state_dict(_completed(model, weights), strict=strict)
    except RuntimeError as error:
        raise ValueError(f"the weights do not fit the model: {error}") from error
    found = {
        "are missing from the checkpoint": result.missing_keys,
        "are not in the model": result.unexpected_keys,
    }
    return [f"{len(names)} parameters {what}: {_shown(names)}" for what, names in found.items() if names]


def frozen_names(model: nn.Module) -> set[str]:
    """Names of the parameters that are not trained, in the model's state."""
    named = model.named_parameters(remove_duplicate=False)
    return {name for name, parameter in named if not parameter.requires_grad}


def _completed(model: nn.Module, weights: Mapping[str, Any]) -> Mapping[str, Any]:
    """What ``trainable_only`` has left, with the model's own frozen parameters; other weights as they are."""
    frozen = frozen_names(model)
    own = model.state_dict() if frozen else {}
    return {**own, **weights} if frozen and own.keys() - weights.keys() == own.keys() & frozen else weights


def _shown(names: list[str]) -> str:
    rest = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + rest
