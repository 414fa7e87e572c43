"""One label for each text."""

from __future__ import annotations

from adapter.tasks.task import Task, class_rows

TASK = Task(
    names=("text-classification", "sentiment-classification", "sentiment-analysis"),
    head="AutoModelForSequenceClassification",
    classes=True,
    rows=class_rows,
)
