"""Weights of a checkpoint, put into a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

NAMES_SHOWN = 5


def load_weights(model: nn.Module, weights: Mapping[str, Any], strict: bool = False) -> list[str]:
    """Put weights into a model.

    Args:
        model: The model.
        weights: Name to tensor; or a mapping that holds them as ``state_dict``.
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
        result = model.load_state_dict(weights, strict=strict)
    except RuntimeError as error:
        raise ValueError(f"the weights do not fit the model: {error}") from error
    found = {
        "are missing from the checkpoint": result.missing_keys,
        "are not in the model": result.unexpected_keys,
    }
    return [f"{len(names)} parameters {what}: {_shown(names)}" for what, names in found.items() if names]


def _shown(names: list[str]) -> str:
    rest = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + rest
