"""Accuracy and F1 of a single-label classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from adapter.metrics.metric import LABELS, Metric, as_tensor, column
from adapter.registry import METRICS

Counts = NDArray[np.int64]
FOLD_AFTER = 256  # batches


@METRICS.register_module(module_name="seq-cls-metric")
class SequenceClassificationMetric(Metric):
    """accuracy, micro-f1, macro-f1 and f1; for two classes accuracy, binary-f1 and f1.

    The value f1 is the micro one, or the binary one of class 1. A class counts in macro-f1 when it was
    predicted or is a label. Labels beyond the model's classes count as wrong. The values equal scikit-learn's
    to the last bit, which is why they are computed in float64 rather than with torchmetrics; the state is
    three counts a class, where the model runs.

    Args:
        logit_name: Output with the scores, (batch, classes).
        label_name: Input with the class numbers, (batch,) or (batch, 1); ``labels``, else ``label``, by
            default.
    """

    VALUES: tuple[str, ...] = ("accuracy", "micro-f1", "macro-f1", "f1", "binary-f1")

    def __init__(self, logit_name: str = "logits", label_name: str | None = None) -> None:
        self.logit_names = (logit_name,)
        self.label_names = (label_name,) if label_name else LABELS
        self.num_classes = 0
        self._pending: list[tuple[Tensor, Tensor]] = []
        # (3, classes + 1): right, predicted and labeled, by class; the last column is for labels beyond them
        self._counts: Tensor | None = None
        self._beyond: set[int] = set()

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Keep the batch's predicted and true classes, on their device; they are counted many at a time.

        Raises:
            ValueError: The scores are not (batch, classes), or there is not one label a row.
        """
        logits = as_tensor(column(outputs, self.logit_names, "the model's output"))
        labels = as_tensor(column(inputs, self.label_names, "the batch"))
        if logits.ndim != 2 or labels.numel() != logits.shape[0]:
            raise ValueError(
                "seq-cls-metric takes scores (batch, classes) and one label a row; "
                f"got scores {tuple(logits.shape)} and labels {tuple(labels.shape)}"
            )
        self.num_classes = logits.shape[1]
        self._pending.append((logits.argmax(1), labels))
        if len(self._pending) >= FOLD_AFTER:
            self._fold()

    def evaluate(self) -> dict[str, Any]:
        """The values over all samples, each from 0 to 1.

        Raises:
            ValueError: Nothing was added, or a label is not 0 or 1 although there are two classes.
        """
        self._fold()
        if self._counts is None:
            raise ValueError("seq-cls-metric has nothing to evaluate: no batch was added")
        right, predicted, labeled = self._counts.cpu().numpy()
        accuracy = float(right.sum() / labeled.sum())
        if self.num_classes > 2:
            macro = float(np.mean(self._f1_by_class(right[:-1], predicted[:-1], labeled[:-1])))
            return {"accuracy": accuracy, "micro-f1": accuracy, "macro-f1": macro, "f1": accuracy}
        if self._beyond - {1}:
            found = sorted(self._beyond)
            raise ValueError(f"with two classes seq-cls-metric takes labels 0 and 1; found {found}")
        both = predicted[1] + labeled[1]
        binary = float(2 * right[1] / both) if self.num_classes == 2 and both else 0.0
        return {"accuracy": accuracy, "binary-f1": binary, "f1": binary}

    def merge(self, other: SequenceClassificationMetric) -> None:
        """Add the other's counts."""
        self._fold()
        other._fold()
        self.num_classes = self.num_classes or other.num_classes
        self._add(other._counts)
        self._beyond |= other._beyond

    def __getstate__(self) -> dict[str, Any]:
        self._fold()
        state = super().__getstate__()
        return {**state, "_counts": None if self._counts is None else self._counts.cpu()}

    def _fold(self) -> None:
        """Turn what is pending into counts. The only place that waits for the device."""
        if not self._pending:
            return
        predicted = torch.cat([classes for classes, _ in self._pending])
        labels = torch.cat([labels.reshape(-1) for _, labels in self._pending]).to(predicted)
        self._pending.clear()
        within = (labels >= 0) & (labels < self.num_classes)
        slot = torch.where(within, labels, self.num_classes)
        counts = torch.zeros(3, self.num_classes + 1, dtype=torch.int64, device=predicted.device)
        counts[0].scatter_add_(0, slot, (predicted == slot).long())
        counts[1].scatter_add_(0, predicted, torch.ones_like(predicted))
        counts[2].scatter_add_(0, slot, torch.ones_like(slot))
        self._add(counts)
        self._beyond.update(labels[~within].unique().tolist())

    def _add(self, counts: Tensor | None) -> None:
        if self._counts is None:
            self._counts = counts
        elif counts is not None:
            self._counts = self._counts + counts.to(self._counts.device)

    def _f1_by_class(self, right: Counts, predicted: Counts, labeled: Counts) -> NDArray[np.float64]:
        """F1 of every class that occurs, in the order of their numbers: it decides the mean's last digit."""
        occurs = predicted + labeled > 0
        f1 = 2 * right[occurs] / (predicted + labeled)[occurs]
        negative = sum(label < 0 for label in self._beyond)
        return np.concatenate([np.zeros(negative), f1, np.zeros(len(self._beyond) - negative)])


@METRICS.register_module(module_name="f1")
class F1Metric(SequenceClassificationMetric):
    """f1, alone: that of seq-cls-metric, with the same arguments."""

    VALUES = ("f1",)

    def evaluate(self) -> dict[str, Any]:
        """The micro F1, or for two classes the binary one of class 1."""
        return {"f1": super().evaluate()["f1"]}
