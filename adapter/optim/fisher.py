"""calculate_fisher: the gradient mask of ChildTuning-D."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


def calculate_fisher(
    model: nn.Module,
    data_loader: Iterable[Any],
    forward_step: Callable[[nn.Module, Any], Tensor],
    reserve_p: float,
    grad_clip: Mapping[str, Any] | None = None,
) -> dict[nn.Parameter, Tensor]:
    """Which entries of a model's layers matter most, by the mean of their squared gradients over the batches.

    Args:
        model: Parameters with ``layer`` in their name get a mask. Its gradients are zeroed.
        data_loader: The batches; it has a length.
        forward_step: Gets the model and a batch, returns the loss.
        reserve_p: Share of the entries to keep, in (0, 1].
        grad_clip: Arguments of ``clip_grad_norm_``, applied to all gradients of each batch.

    Returns:
        Parameter to a mask of its shape, bool: True for entries that keep their gradient.

    Raises:
        ValueError: No parameter has ``layer`` in its name.
    """
    model.train()
    squares = {
        parameter: torch.zeros_like(parameter) for name, parameter in model.named_parameters() if "layer" in name
    }
    if not squares:
        raise ValueError("no parameter of the model has 'layer' in its name, so there is nothing to mask")
    count = len(data_loader)  # type: ignore[arg-type]
    for batch in data_loader:
        forward_step(model, batch).backward()
        if grad_clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), **grad_clip)
        for parameter, square in squares.items():
            if parameter.grad is not None:
                square += parameter.grad**2 / count
        model.zero_grad()
    # numpy's percentile, which interpolates as ModelScope's does, and takes more entries than torch.quantile
    values = np.concatenate([square.cpu().numpy().ravel() for square in squares.values()])
    threshold = float(np.percentile(values, (1 - reserve_p) * 100))
    return {parameter: square >= threshold for parameter, square in squares.items()}
