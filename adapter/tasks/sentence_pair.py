"""One label for each pair of texts: whether they mean the same, or one follows from the other."""

from __future__ import annotations

from adapter.tasks.task import Task, class_rows

TASK = Task(
    names=("nli", "sentence-similarity", "sentence-pair-classification"),
    head="AutoModelForSequenceClassification",
    classes=True,
    rows=class_rows,
)
