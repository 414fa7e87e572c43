"""Share of predictions that equal the labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from adapter.metrics.metric import Metric, as_tensor, column, holds_text
from adapter.registry import METRICS

PREDICTIONS = ("labels", "label", "preds", "predictions", "logits", "scores", "probs", "text")
TRUTHS = ("label", "labels", "text", "gt_labels")
FOLD_AFTER = 256  # batches


@METRICS.register_module(module_name="accuracy")
class AccuracyMetric(Metric):
    """accuracy: right predictions over all predictions.

    Predictions are the output ``labels``, ``label``, ``preds``, ``predictions``, ``logits``, ``scores``,
    ``probs`` or ``text``, whichever comes first; the truth is the input ``label``, ``labels``, ``text`` or
    ``gt_labels``. Where predictions have one dimension more than the truth, the last one holds scores of classes,
    and the highest wins. Both may be lists of strings.
    """

    VALUES = ("accuracy",)

    def __init__(self) -> None:
        self._pending: list[tuple[Tensor, Tensor]] = []
        self._right: Tensor | int = 0
        self._total = 0

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Keep the batch's predictions and labels, on their device; they are compared later, many at a time.

        Raises:
            ValueError: There are not as many predictions as labels.
        """
        predicted = column(outputs, PREDICTIONS, "the model's output")
        truth = column(inputs, TRUTHS, "the batch")
        if holds_text(predicted) or holds_text(truth):
            self._add_text(predicted, truth)
            return
        predicted, truth = as_tensor(predicted), as_tensor(truth)
        if predicted.ndim > truth.ndim and predicted.shape[:-1] == truth.shape and predicted.shape[-1] > 1:
            predicted = predicted.argmax(-1)
        if predicted.numel() != truth.numel():
            raise _unequal(tuple(predicted.shape), tuple(truth.shape))
        self._pending.append((predicted, truth))
        self._total += truth.numel()
        if len(self._pending) >= FOLD_AFTER:
            self._fold()

    def evaluate(self) -> dict[str, Any]:
        """The share over all predictions, from 0 to 1.

        Raises:
            ValueError: Nothing was added.
        """
        self._fold()
        if not self._total:
            raise ValueError("accuracy has nothing to evaluate: no batch was added")
        return {"accuracy": int(self._right) / self._total}

    def merge(self, other: AccuracyMetric) -> None:
        """Add the other's counts."""
        self._fold()
        other._fold()
        self._right = int(self._right) + int(other._right)
        self._total += other._total

    def __getstate__(self) -> dict[str, Any]:
        self._fold()
        return {**super().__getstate__(), "_right": int(self._right)}

    def _fold(self) -> None:
        """Turn what is pending into counts, without waiting for the device."""
        if not self._pending:
            return
        predicted = torch.cat([values.reshape(-1) for values, _ in self._pending])
        truth = torch.cat([values.reshape(-1) for _, values in self._pending])
        self._pending.clear()
        self._right = self._right + (predicted == truth.to(predicted.device)).sum()

    def _add_text(self, predicted: Any, truth: Any) -> None:
        if len(predicted) != len(truth):
            raise _unequal(len(predicted), len(truth))
        self._total += len(truth)
        self._right = self._right + sum(a == b for a, b in zip(predicted, truth, strict=True))


def _unequal(predicted: Any, truth: Any) -> ValueError:
    return ValueError(f"accuracy takes one prediction a label; got predictions {predicted}, labels {truth}")
