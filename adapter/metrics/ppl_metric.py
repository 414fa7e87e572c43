"""Perplexity of a language model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from adapter.metrics.metric import IGNORED, LABELS, Metric, as_tensor, column, wide
from adapter.registry import METRICS


@METRICS.register_module(module_name="ppl")
class PplMetric(Metric):
    """ppl: e to the power of the mean loss of a token, over all tokens of all batches.

    Reads the output ``logits``, (batch, tokens, vocabulary) or (tokens, vocabulary), and the input ``labels`` or
    ``label``. Labels are not shifted; those of -100 are left out. torchmetrics' Perplexity takes the logarithm of
    probabilities, which is infinite for an unlikely token, so the loss is taken from the scores instead.
    """

    VALUES = ("ppl",)
    READS_TEXT = False

    def __init__(self) -> None:
        self._sums: Tensor | None = None  # (2,): loss, tokens

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Add the batch's loss and the number of its tokens, on their device.

        Raises:
            ValueError: There is not one label for each row of scores.
        """
        logits = as_tensor(column(outputs, ("logits",), "the model's output"))
        labels = as_tensor(column(inputs, LABELS, "the batch")).reshape(-1).to(logits.device)
        if logits.shape[:-1].numel() != labels.numel():
            raise ValueError(
                f"ppl takes scores (..., vocabulary) of {labels.numel()} tokens; got {tuple(logits.shape)}"
            )
        scores = logits.reshape(-1, logits.shape[-1])
        loss = F.cross_entropy(scores.float(), labels, ignore_index=IGNORED, reduction="sum")
        sums = torch.stack([wide(loss), wide((labels != IGNORED).sum())])
        self._sums = sums if self._sums is None else self._sums + sums

    def evaluate(self) -> dict[str, Any]:
        """The perplexity, 1 or more; not a number when every label was -100.

        Raises:
            ValueError: Nothing was added.
        """
        if self._sums is None:
            raise ValueError("ppl has nothing to evaluate: no batch was added")
        loss, tokens = self._sums.tolist()
        try:
            return {"ppl": math.exp(loss / tokens) if tokens else math.nan}
        except OverflowError:
            return {"ppl": math.inf}

    def merge(self, other: PplMetric) -> None:
        """Add the other's loss and tokens."""
        if self._sums is None:
            self._sums = other._sums
        elif other._sums is not None:
            self._sums = self._sums + other._sums.to(self._sums.device)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_sums": None if self._sums is None else self._sums.cpu()}
