"""Data sets made of others: preprocessed, and several as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch.utils.data import ChainDataset, ConcatDataset, Dataset, IterableDataset

Preprocessor = Callable[[Any], Any]


class PreprocessedDataset(Dataset[Any]):
    """Applies a preprocessor to each sample as it is asked for.

    Args:
        dataset: Samples by number; its own attributes can be read through this one.
        preprocessor: Takes a sample and returns the one to train on.
    """

    def __init__(self, dataset: Any, preprocessor: Preprocessor) -> None:
        self.dataset = dataset
        self.preprocessor = preprocessor

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> Any:
        return self.preprocessor(self.dataset[index])

    def __getattr__(self, name: str) -> Any:
        return _attribute_of(self, name)


class PreprocessedStream(IterableDataset[Any]):
    """Applies a preprocessor to each sample of a data set without numbers.

    Args:
        dataset: Gives samples in order; its attributes (``generator``, ``set_epoch``) can be read through
            this one.
        preprocessor: Takes a sample and returns the one to train on.
    """

    def __init__(self, dataset: Any, preprocessor: Preprocessor) -> None:
        self.dataset = dataset
        self.preprocessor = preprocessor

    def __iter__(self) -> Iterator[Any]:
        return (self.preprocessor(sample) for sample in self.dataset)

    def __getattr__(self, name: str) -> Any:
        return _attribute_of(self, name)


def wrap_dataset(datasets: Any, preprocessor: Preprocessor | None = None) -> Any:
    """One data set, or several one after the other, with the preprocessor applied to each sample.

    A preprocessor with a method ``prepare`` is handed data sets of files whole.

    Args:
        datasets: Anything a torch data loader takes, or a list of such, all numbered or all iterable.
        preprocessor: None leaves the samples as they are.

    Raises:
        TypeError: Numbered and iterable data sets in one list, or an empty list.
    """
    prepare = getattr(preprocessor, "prepare", None)
    parts = datasets if isinstance(datasets, (list, tuple)) else [datasets]
    if prepare is not None and parts and all(hasattr(part, "table") for part in parts):
        return concatenate([prepare(part) for part in parts])
    dataset = concatenate(datasets) if isinstance(datasets, (list, tuple)) else datasets
    if preprocessor is None:
        return dataset
    kind = PreprocessedStream if isinstance(dataset, IterableDataset) else PreprocessedDataset
    return kind(dataset, preprocessor)


def concatenate(datasets: Sequence[Any]) -> Any:
    """The samples of several data sets, in order; a single one is returned as it is."""
    streams = [isinstance(dataset, IterableDataset) for dataset in datasets]
    if not datasets or any(streams) != all(streams):
        found = ", ".join(type(dataset).__name__ for dataset in datasets) or "none"
        raise TypeError(f"a list of data sets must be all numbered or all iterable; found {found}")
    if len(datasets) == 1:
        return datasets[0]
    return ChainDataset(datasets) if streams[0] else ConcatDataset(datasets)


def has_length(dataset: Any) -> bool:
    """Whether a data set knows how many samples it has."""
    try:
        len(dataset)
    except TypeError:  # no __len__, or one of a chain of streams, which cannot tell either
        return False
    return True


def _attribute_of(wrapper: Any, name: str) -> Any:
    if name.startswith("__") or "dataset" not in wrapper.__dict__:  # it is absent while unpickling
        raise AttributeError(f"{type(wrapper).__name__} has no attribute '{name}'")
    return getattr(wrapper.dataset, name)
