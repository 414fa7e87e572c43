"""Hands every evaluated batch to a function, among the metrics."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from adapter.metrics.metric import Metric
from adapter.registry import METRICS, import_path


@METRICS.register_module(module_name="prediction-saving-wrapper")
class PredictionSavingWrapper(Metric):
    """Calls ``saving_fn(inputs, outputs)`` for each batch; has no value of its own.

    With several processes each one calls its own ``saving_fn``, with its own share of the batches.

    Args:
        saving_fn: A function, or the import path of one, or of a class that takes no arguments and whose instances
            can be called.
    """

    def __init__(self, saving_fn: Callable[[Any, Any], Any] | str) -> None:
        found = import_path(saving_fn, "saving_fn") if isinstance(saving_fn, str) else saving_fn
        self.saving_fn: Any = found() if inspect.isclass(found) else found
        if not callable(self.saving_fn):
            raise TypeError(f"saving_fn must be a function, or a path to one; found {saving_fn!r}")

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Hand the batch over."""
        self.saving_fn(inputs, outputs)

    def evaluate(self) -> dict[str, Any]:
        """No values."""
        return {}

    def merge(self, other: PredictionSavingWrapper) -> None:
        """Nothing to add: what the other was given, its function has."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "saving_fn"}
