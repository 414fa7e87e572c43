"""Task, and how to find one by a config's ``task``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from adapter import tasks
from adapter.data.labels import Labels

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Task:
    """What a kind of task means. A module of this folder holds one as ``TASK``.

    Attributes:
        names: What a config may call it; the first is its own name. Default metrics are in ``metrics/task_metrics``.
        head: Class of transformers that builds a model for it, such as ``AutoModelForSequenceClassification``; empty
            for a task whose models are not made by transformers.
        classes: Whether the truth is one of a list of labels.
        parts: Whether there is one for each part of a sample (a word), not for the whole.
        rows: From outputs, batch and labels (None when they have no names) to what ``adapter predict`` says of each
            sample, beside the outputs; None for nothing.
        step: What an evaluation does with the model, a batch and the preprocessor, when running the model's forward is
            not enough; its last argument says whether anyone looks at what a model writes.
        settings: Values of the model's config that the task fixes.
    """

    names: tuple[str, ...]
    head: str = ""
    classes: bool = False
    parts: bool = False
    rows: Callable[[Mapping[str, Any], Any, Labels | None], Rows] | None = None
    step: Callable[[nn.Module, Any, Any, bool], dict[str, Any]] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def needs_labels(self) -> bool:
        """Whether the loss of its models of transformers comes from labels in the data."""
        return bool(self.head) and (self.classes or "num_labels" in self.settings)


@cache
def known_tasks() -> dict[str, Task]:
    """Every name to its task."""
    modules = (
        importlib.import_module(f"{tasks.__name__}.{info.name}") for info in pkgutil.iter_modules(tasks.__path__)
    )
    found: list[Task] = [module.TASK for module in modules if hasattr(module, "TASK")]
    return {name: task for task in found for name in task.names}


def find_task(name: Any) -> Task | None:
    """The task that a config's ``task`` names; None for one of the user's own."""
    return known_tasks().get(name) if isinstance(name, str) else None


def class_rows(outputs: Mapping[str, Any], inputs: Any, labels: Labels | None) -> Rows:
    """``{label, score, scores}`` of each sample: the likeliest label, its probability, and that of every label.

    ``outputs`` has ``logits`` (samples, classes); without names of all classes there is nothing to say.
    """
    logits = outputs.get("logits")
    if labels is None or not isinstance(logits, Tensor) or logits.ndim != 2 or logits.shape[1] != len(labels):
        return []
    names = list(labels.id2label.values())
    shares = torch.softmax(logits.float(), dim=1).tolist()
    best = logits.argmax(1).tolist()
    return [
        {"label": names[number], "score": row[number], "scores": dict(zip(names, row, strict=True))}
        for number, row in zip(best, shares, strict=True)
    ]
