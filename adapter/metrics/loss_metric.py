"""The evaluation loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adapter.metrics.metric import Metric, as_tensor, column
from adapter.registry import METRICS


@METRICS.register_module(module_name="loss-metric")
class LossMetric(Metric):
    """loss: mean of the batches' losses, each batch counting the same whatever its size.

    The mean is taken in the losses' own precision, as ModelScope takes it.

    Args:
        loss_key: Output with the batch's loss, a scalar; the value is called ``loss`` whatever this is.
    """

    VALUES = ("loss",)
    READS_TEXT = False

    def __init__(self, loss_key: str = "loss") -> None:
        self.loss_key = loss_key
        self._losses: list[Tensor] = []

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Keep the batch's loss, on its device.

        Raises:
            ValueError: It is not a single number.
        """
        loss = as_tensor(column(outputs, (self.loss_key,), "the model's output"))
        if loss.numel() != 1:
            raise ValueError(f"loss-metric takes one loss a batch; got a tensor {tuple(loss.shape)}")
        self._losses.append(loss.reshape(()))

    def evaluate(self) -> dict[str, Any]:
        """The mean loss.

        Raises:
            ValueError: Nothing was added.
        """
        if not self._losses:
            raise ValueError("loss-metric has nothing to evaluate: no batch was added")
        losses = torch.stack(self._losses).cpu()
        if losses.dtype == torch.bfloat16:  # NumPy has no bfloat16
            losses = losses.float()
        return {"loss": float(np.mean(losses.numpy()))}

    def merge(self, other: LossMetric) -> None:
        """Add the other's losses."""
        self._losses += [loss.to(self._losses[0].device) if self._losses else loss for loss in other._losses]

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_losses": [loss.cpu() for loss in self._losses]}
