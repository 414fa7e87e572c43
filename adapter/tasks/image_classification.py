"""One label for each image."""

from __future__ import annotations

from adapter.tasks.task import Task, class_rows

TASK = Task(
    names=("image-classification", "image_classification"),
    classes=True,
    rows=class_rows,
)
