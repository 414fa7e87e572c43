"""One number for each text."""

from __future__ import annotations

from adapter.tasks.task import Task

TASK = Task(
    names=("text-regression", "feature-regression"),
    head="AutoModelForSequenceClassification",
    settings={"num_labels": 1, "problem_type": "regression"},
)
