"""Predictions as a file: one JSON object a sample, in the order of the data."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping
from itertools import chain, zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from numpy import ndarray
from torch import Tensor

from adapter.aside import written_aside
from adapter.errors import ConfigError, Problem
from adapter.metrics.metric import plain

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


def write_predictions(trainer: EpochBasedTrainer, path: Path) -> int:
    """Run the config's evaluation data through the model, and write what comes out.

    Returns:
        Samples written; 0 on processes other than the main one.

    Raises:
        ConfigError: The config has no evaluation data.
    """
    dataset = data_to_predict(trainer)
    with written(trainer, path) as predictions:
        trainer.predict(dataset, predictions.add)
    return predictions.count


def data_to_predict(trainer: EpochBasedTrainer) -> Any:
    """The config's evaluation data.

    Raises:
        ConfigError: There are none.
    """
    dataset = trainer.build_dataset(None, "val")
    if dataset is None:
        key, fix = trainer.EVALUATION_DATA, f"describe the data under `{trainer.EVALUATION_DATA}`"
        raise ConfigError(Problem(key, "there is no data set to predict", kind="missing", fix=fix))
    return dataset


class Predictions:
    """Takes the batches of a prediction.

    Args:
        trainer: Whose task describes the rows.
        file: Where each batch is written when it is there; None keeps them.

    Attributes:
        batches: Those that were kept, as lines.
        count: Samples so far.
    """

    def __init__(self, trainer: EpochBasedTrainer, file: IO[bytes] | None = None) -> None:
        self.trainer, self.file = trainer, file
        self.batches: list[list[bytes]] = []
        self.count = 0

    def add(self, inputs: Any, outputs: Any) -> None:
        """Take a batch, and what the model made of it."""
        rows = list(lines(self.trainer, inputs, outputs))
        self.count += len(rows)
        if self.file is None:
            self.batches.append(rows)
        else:
            self.file.writelines(rows)


@contextlib.contextmanager
def written(trainer: EpochBasedTrainer, path: Path) -> Iterator[Predictions]:
    """A block whose predictions become a file, in the order of the data; it takes its place when the block is over.

    Of several processes the main one writes, what all of them have made; it alone counts them.
    """
    if trainer.processes.size == 1:
        with written_aside(path) as file:
            yield Predictions(trainer, file)
        return
    predictions = Predictions(trainer)
    yield predictions
    everybody = dict(reversed(trainer.processes.gather_to_main((trainer.processes.share, predictions.batches))))
    in_order = list(chain.from_iterable(zip_longest(*(everybody[share] for share in sorted(everybody)), fillvalue=())))
    predictions.count = sum(map(len, in_order))
    if trainer.is_main_process:
        with written_aside(path) as file:
            file.writelines(chain.from_iterable(in_order))


def lines(trainer: EpochBasedTrainer, inputs: Any, outputs: Mapping[str, Any] | list[Any]) -> Iterator[bytes]:
    """One JSON object a sample, each on a line."""
    for row in described(trainer, inputs, outputs):
        yield json.dumps(row, ensure_ascii=False, allow_nan=False, default=str).encode() + b"\n"


def described(
    trainer: EpochBasedTrainer, inputs: Any, outputs: Mapping[str, Any] | list[Any]
) -> Iterator[dict[str, Any]]:
    """The rows, each after what the task says of it, such as its label and score."""
    task = trainer.known_task
    named = outputs if isinstance(outputs, Mapping) else {}
    said = task.rows(named, inputs, trainer.output_labels) if task is not None and task.rows is not None else []
    hidden = ("preds", "logits") if "preds" in named else ()  # the scores of every word of a vocabulary are many
    shown = {name: value for name, value in named.items() if name not in hidden} if said else outputs
    for number, row in enumerate(rows(inputs, shown)):
        yield {**said[number], **row} if said else row


def rows(inputs: Any, outputs: Mapping[str, Any] | list[Any]) -> Iterator[dict[str, Any]]:
    """One mapping a sample, of the outputs that have a value for each; a loss, which is of the batch, is left out.

    Args:
        inputs: The batch.
        outputs: What the model made of it; of a task's list, which has an entry for each sample, those that are no
            mappings come under ``result``.

    Yields:
        Tensors as lists and numbers; what JSON has no number for, such as nan, as None.
    """
    if isinstance(outputs, list):
        for entry in outputs:
            yield _finite(plain(entry if isinstance(entry, Mapping) else {"result": entry}))
        return
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
