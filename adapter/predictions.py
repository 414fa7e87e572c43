"""Predictions as a file: one JSON object a sample, in the order of the data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy import ndarray
from torch import Tensor

from adapter.aside import written_aside
from adapter.errors import ConfigError, Problem
from adapter.metrics.metric import plain

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


def write_predictions(trainer: EpochBasedTrainer, path: Path) -> int:
    """Run the config's evaluation data through the model; the file takes its place when it is complete.

    Returns:
        Samples written.

    Raises:
        ConfigError: The config has no evaluation data.
    """
    dataset = trainer.build_dataset(None, "val")
    if dataset is None:
        fix = "describe the data under `dataset.val`"
        raise ConfigError(Problem("dataset.val", "there is no data set to predict", kind="missing", fix=fix))
    count = 0
    with written_aside(path) as file:

        def write(inputs: Any, outputs: Mapping[str, Any]) -> None:
            nonlocal count
            for row in rows(inputs, outputs):
                file.write(json.dumps(row, ensure_ascii=False, allow_nan=False, default=str).encode() + b"\n")
                count += 1

        trainer.predict(dataset, write)
    return count


def rows(inputs: Any, outputs: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One mapping a sample, of the outputs that have a value for each; a loss, which is of the batch, is left out.

    Args:
        inputs: The batch.
        outputs: What the model made of it.

    Yields:
        Tensors as lists and numbers; what JSON has no number for, such as nan, as None.
    """
    size = batch_size(inputs)
    columns = {name: plain(value) for name, value in outputs.items() if _length(value) == size}
    for index in range(size):
        yield {str(name): _finite(values[index]) for name, values in columns.items()}


def batch_size(inputs: Any) -> int:
    """Samples of a batch.

    Raises:
        TypeError: It holds nothing that has a length.
    """
    columns = inputs.values() if isinstance(inputs, Mapping) else inputs
    for value in columns if isinstance(inputs, (Mapping, list, tuple)) else [inputs]:
        length = _length(value)
        if length is not None:
            return length
    raise TypeError(f"a batch of type {type(inputs).__name__} does not show how many samples it holds")


def _length(value: Any) -> int | None:
    """Entries along the first dimension; None for what has no dimension."""
    if isinstance(value, (Tensor, ndarray)):
        return value.shape[0] if value.ndim else None
    return len(value) if isinstance(value, list) else None


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(each) for each in value]
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
