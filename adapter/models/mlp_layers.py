"""What small models for rows of numbers are made of."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from adapter.errors import ConfigError, Problem


def hidden_layers(in_features: int, hidden: int | Sequence[int], dropout: float) -> tuple[nn.Sequential, int]:
    """Linear layers, each with ReLU (and dropout) after it, and how many numbers the last one gives.

    Args:
        in_features: Numbers in a row.
        hidden: Widths of the layers, first to last; one number for a single layer.
        dropout: Probability, from 0 to 1, of dropping a value while training.

    Raises:
        ValueError: A width that is less than 1.
    """
    widths = [hidden] if isinstance(hidden, int) else list(hidden)
    if any(isinstance(size, bool) or size < 1 for size in (in_features, *widths)):
        raise ValueError("in_features and hidden count from 1")
    layers: list[nn.Module] = []
    width = in_features
    for size in widths:
        layers += [nn.Linear(width, size), nn.ReLU()]
        if dropout:
            layers.append(nn.Dropout(dropout))
        width = size
    return nn.Sequential(*layers), width


def rows_of(features: Tensor, in_features: int, dtype: torch.dtype) -> Tensor:
    """A batch as rows of numbers, (batch, in_features).

    Raises:
        ConfigError: Rows of another length.
    """
    rows = features.flatten(1).to(dtype)
    if rows.shape[1] != in_features:
        found = f"{in_features}, but the data have rows of {rows.shape[1]} numbers"
        raise ConfigError(Problem("model.in_features", found))
    return rows
