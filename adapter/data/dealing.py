"""Batches dealt out to processes, one each in turn: the same batches that one process would have."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from torch.utils.data import BatchSampler, IterableDataset, Sampler


class DealtBatches(Sampler[list[int]]):
    """Every ``shares``-th batch of a sampler's.

    Args:
        batches: All of them.
        share: Which of them are this process's, from 0.
        shares: How many processes they are dealt to.
    """

    def __init__(self, batches: BatchSampler, share: int, shares: int) -> None:
        self.batches = batches
        self.share = share
        self.shares = shares

    def __len__(self) -> int:
        return len(range(self.share, len(self.batches), self.shares))

    def __iter__(self) -> Iterator[list[int]]:
        return islice(iter(self.batches), self.share, None, self.shares)


class DealtStream(IterableDataset[Any]):
    """The samples of every ``shares``-th batch of a data set without numbers.

    Args:
        dataset: Gives the same samples on every process; its attributes can be read through this one.
        batch_size: Samples of a batch.
        share: Which batches are this process's, from 0.
        shares: How many processes they are dealt to.
        rounds: Give only batches of whole rounds, of which every process has one.
    """

    def __init__(self, dataset: Any, batch_size: int, share: int, shares: int, rounds: bool) -> None:
        self.dataset = dataset
        self.batch_size = batch_size
        self.share = share
        self.shares = shares
        self.rounds = rounds

    def __iter__(self) -> Iterator[Any]:
        samples = iter(self.dataset)
        while True:
            one_round = [list(islice(samples, self.batch_size)) for _ in range(self.shares)]
            whole = bool(one_round[-1])
            if whole or not self.rounds:
                yield from one_round[self.share]
            if not whole:
                return

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "dataset" not in self.__dict__:  # it is absent while unpickling
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")
        return getattr(self.dataset, name)
