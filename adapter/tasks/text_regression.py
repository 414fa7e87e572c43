"""One number for each text, or for each row of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from adapter.data.labels import Labels
from adapter.tasks.task import Rows, Task


def number_rows(outputs: Mapping[str, Any], inputs: Any, labels: Labels | None) -> Rows:
    """``{score}`` of each sample: the number. ``outputs`` has ``logits``, (samples, 1)."""
    logits = outputs.get("logits")
    if not isinstance(logits, Tensor) or logits.shape[1:] != (1,):
        return []
    return [{"score": number} for number in logits.float().flatten().tolist()]


TASK = Task(
    names=("text-regression", "feature-regression"),
    head="AutoModelForSequenceClassification",
    rows=number_rows,
    settings={"num_labels": 1, "problem_type": "regression"},
)
