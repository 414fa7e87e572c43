"""BaseDataset: what a data set of a ``run:`` config has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from torch.utils.data import Dataset, default_collate

D = TypeVar("D", bound="BaseDataset")


class BaseDataset(Dataset[Any]):
    """Base of the data sets; a subclass defines ``__len__`` and ``__getitem__``.

    Args:
        transform: Applied by the subclass to what it loads; None for nothing.
    """

    def __init__(self, transform: Callable[[Any], Any] | None = None) -> None:
        self.transform = transform

    @classmethod
    def from_config(cls: type[D], cfg: Mapping[str, Any]) -> D:
        """The data set that a config describes: its keys, less ``name``, are arguments; processors are built."""
        return cls(**cfg)

    def collator(self, batch: list[Any]) -> Any:
        """A batch from samples; torch's ``default_collate`` unless a subclass has its own."""
        return default_collate(batch)
