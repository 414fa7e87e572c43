"""EndlessSampler: epochs of a fixed number of iterations over data that go round and round."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import torch
from torch.utils.data import Sampler


class EndlessSampler(Sampler[int]):
    """One order of all samples after the other, cut into epochs of equal size; an epoch goes on where the last ended.

    Where an epoch begins follows from its number alone, so that a resumed run need not be told.

    Args:
        length: Samples of the data.
        epoch_size: Samples an epoch, over all processes.
        seed: Decides the orders.
        rank: This process's number.
        world_size: Processes that share the samples.
    """

    def __init__(self, length: int, epoch_size: int, seed: int, rank: int = 0, world_size: int = 1) -> None:
        self.length, self.epoch_size, self.seed = length, epoch_size, seed
        self.rank, self.world_size = rank, world_size
        self.epoch = 0

    def __len__(self) -> int:
        return self.epoch_size // self.world_size

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next, counted from 0."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        return islice(self._from(self.epoch * self.epoch_size), self.rank, self.epoch_size, self.world_size)

    def _from(self, start: int) -> Iterator[int]:
        number, skipped = divmod(start, self.length)
        while True:
            generator = torch.Generator().manual_seed(self.seed + number)
            yield from torch.randperm(self.length, generator=generator).tolist()[skipped:]
            number, skipped = number + 1, 0
