"""Metric: what evaluation computes, and how metrics find their columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from adapter.errors import MissingEntryError, Problem

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

LABELS = ("labels", "label", "gt_labels")
IGNORED = -100  # the label that stands for no label, as for PyTorch's losses


class Metric(ABC):
    """Sees every evaluated batch, then says what the data set scored.

    With several processes each has its own metric; they are pickled, without ``trainer``, and merged in one
    place, so that every sample counts once.

    Attributes:
        trainer: The trainer that evaluates, set before the first batch.
        VALUES: Names of the values, of a class that always gives the same ones: what hooks follow is compared with
            them before training. A subclass says its own.
        READS_TEXT: Whether it may look at the texts that a model writes; where no metric does, none are written.
    """

    trainer: EpochBasedTrainer | None = None
    VALUES: tuple[str, ...] | None = None
    READS_TEXT: bool = True

    @abstractmethod
    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Take note of a batch.

        Args:
            outputs: What the model returned.
            inputs: The batch it was given, on the same device.
        """

    @abstractmethod
    def evaluate(self) -> dict[str, Any]:
        """Values by name, over everything added so far."""

    @abstractmethod
    def merge(self, other: Any) -> None:
        """Add what another metric of the same class has seen."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "trainer"}


def column(source: Mapping[str, Any], names: Sequence[str], what: str) -> Any:
    """The first of ``names`` that ``source`` has.

    Raises:
        MissingEntryError: It has none of them; lists what it has. ``what`` says whose columns these are.
        TypeError: It is not a mapping.
    """
    if not isinstance(source, Mapping):
        raise TypeError(f"{what} is a {type(source).__name__}; this metric needs a mapping with {' or '.join(names)}")
    for name in names:
        value = source.get(name)
        if value is not None:
            return value
    found = f"{what} has none of {', '.join(names)}; it has {', '.join(map(str, source))}"
    raise MissingEntryError(Problem("evaluation.metrics", found, fix="name another metric, or add the column"))


def plain(value: Any) -> Any:
    """A metric's value as logs and checkpoints hold it: tensors and numpy values, at any depth, become plain ones."""
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (Tensor, np.ndarray)):
        return value.item() if value.ndim == 0 else value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def as_tensor(value: Any) -> Tensor:
    """A detached tensor of the same numbers: a tensor itself, an array, a list, or a number."""
    if isinstance(value, Tensor):
        return value.detach() if value.requires_grad else value
    return torch.as_tensor(value)


def wide(value: Tensor) -> Tensor:
    """The numbers in float64, for sums over a data set; in float32 where the device has nothing wider (MPS)."""
    return value.float() if value.device.type == "mps" else value.double()


def holds_text(values: Any) -> bool:
    """Whether these are strings, rather than numbers."""
    return isinstance(values, (list, tuple)) and bool(values) and isinstance(values[0], str)
