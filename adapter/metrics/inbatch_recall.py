"""How often a text finds its own image among those of the batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from adapter.metrics.metric import Metric, as_tensor, column
from adapter.registry import METRICS


@METRICS.register_module(module_name="inbatch_recall")
class InbatchRecallMetric(Metric):
    """inbatch_t2i_recall_at_1: share of texts whose own image has the highest product with them in the batch.

    Reads the outputs ``img_embedding`` and ``text_embedding``, both (batch, size), of which row i of one belongs
    to row i of the other. They are compared as they are: normalize them in the model. What is found depends on the
    batch size, and with several processes on the size of each one's batch.
    """

    VALUES = ("inbatch_t2i_recall_at_1",)

    def __init__(self) -> None:
        self._right: Tensor | int = 0
        self._total = 0

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Count the batch's texts that find their image, on their device.

        Raises:
            ValueError: The embeddings are not two matrices of one shape.
        """
        images, texts = (
            as_tensor(column(outputs, (name,), "the model's output")) for name in ("img_embedding", "text_embedding")
        )
        if images.ndim != 2 or images.shape != texts.shape:
            found = f"{tuple(images.shape)} and {tuple(texts.shape)}"
            raise ValueError(f"inbatch_recall takes two embeddings (batch, size) of one shape; got {found}")
        nearest = (texts @ images.T).argmax(1)
        self._right = self._right + (nearest == torch.arange(len(texts), device=nearest.device)).sum()
        self._total += len(texts)

    def evaluate(self) -> dict[str, Any]:
        """The share over all texts, from 0 to 1.

        Raises:
            ValueError: Nothing was added.
        """
        if not self._total:
            raise ValueError("inbatch_recall has nothing to evaluate: no batch was added")
        return {"inbatch_t2i_recall_at_1": int(self._right) / self._total}

    def merge(self, other: InbatchRecallMetric) -> None:
        """Add the other's counts."""
        self._right = int(self._right) + int(other._right)
        self._total += other._total

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_right": int(self._right)}
