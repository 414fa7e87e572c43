"""Normalized edit distance of recognized text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchmetrics.functional.text import edit_distance

from adapter.metrics.metric import LABELS, Metric, column
from adapter.registry import METRICS

PREDICTIONS = ("labels", "label", "text", "preds")


@METRICS.register_module(module_name="ned")
class NedMetric(Metric):
    """ned: mean over samples of 1 less the edit distance over the length of the longer text.

    Insertions, deletions and replacements of characters count 1 each; two empty texts are alike. Predictions are
    the output ``labels``, ``label``, ``text`` or ``preds``, whichever comes first, the truth is the input
    ``labels`` or ``label``; both are lists or arrays of strings.
    """

    VALUES = ("ned",)

    def __init__(self) -> None:
        self._sum = 0.0
        self._total = 0

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Compare the batch's texts.

        Raises:
            ValueError: There are not as many predictions as labels, or they are no text.
        """
        predicted = [*column(outputs, PREDICTIONS, "the model's output")]
        truth = [*column(inputs, LABELS, "the batch")]
        if len(predicted) != len(truth):
            raise ValueError(f"ned takes one prediction a label; got {len(predicted)} for {len(truth)}")
        if not all(isinstance(text, str) for text in (*predicted, *truth)):
            raise ValueError("ned compares strings; decode numbers to text first")
        pairs = [(ours, true) for ours, true in zip(predicted, truth, strict=True) if ours or true]
        self._total += len(truth)
        self._sum += len(truth) - len(pairs)
        if pairs:
            distances = edit_distance([a for a, _ in pairs], [b for _, b in pairs], reduction="none").tolist()
            self._sum += sum(
                1 - distance / max(map(len, pair)) for distance, pair in zip(distances, pairs, strict=True)
            )

    def evaluate(self) -> dict[str, Any]:
        """The mean, from 0 (nothing alike) to 1 (equal).

        Raises:
            ValueError: Nothing was added.
        """
        if not self._total:
            raise ValueError("ned has nothing to evaluate: no batch was added")
        return {"ned": self._sum / self._total}

    def merge(self, other: NedMetric) -> None:
        """Add the other's samples."""
        self._sum += other._sum
        self._total += other._total
