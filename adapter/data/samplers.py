"""Samplers that torch lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sized

from torch.utils.data import Sampler


class ShardSampler(Sampler[int]):
    """Every ``world_size``-th sample, in order, each once over all processes: for evaluation.

    ``DistributedSampler`` repeats samples until all processes have equally many; a metric would count them
    twice.

    Args:
        dataset: What is sampled from.
        rank: This process's number, from 0.
        world_size: Number of processes.
    """

    def __init__(self, dataset: Sized, rank: int, world_size: int) -> None:
        self.indices = range(rank, len(dataset), world_size)

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices)

    def __len__(self) -> int:
        return len(self.indices)
