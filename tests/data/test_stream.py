from __future__ import annotations

import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, WeightedRandomSampler

from adapter.data.stream import TrainingStream


def shuffled(**settings) -> DataLoader:
    return DataLoader(range(12), batch_size=3, shuffle=True, **settings)


def sampled(**settings) -> DataLoader:
    drawn = RandomSampler(range(12), replacement=True, generator=torch.Generator().manual_seed(1))
    return DataLoader(range(12), batch_size=3, sampler=drawn, **settings)


def weighted(**settings) -> DataLoader:
    drawn = WeightedRandomSampler(range(1, 13), 12, generator=torch.Generator().manual_seed(1))
    return DataLoader(range(12), batch_size=3, sampler=drawn, **settings)


def own_generator(**settings) -> DataLoader:
    return shuffled(generator=torch.Generator().manual_seed(1), **settings)


class Numbers(IterableDataset):
    def __iter__(self):
        yield from torch.randint(100, (12,))


def numbers() -> DataLoader:
    return DataLoader(Numbers(), batch_size=3)


def batches(stream: TrainingStream) -> list[list[int]]:
    return [batch.tolist() for batch in stream]


@pytest.mark.parametrize("make", [shuffled, sampled, weighted, own_generator, numbers])
@pytest.mark.parametrize("done", [1, 3, 4])
def test_an_epoch_goes_on_in_its_middle_and_the_next_is_the_same(make, done):
    torch.manual_seed(0)
    first = TrainingStream(make())
    before = batches(first)
    epoch = iter(first)
    whole = [next(epoch).tolist() for _ in range(done)]
    state, now = first.epoch_random, first.random_state()
    whole += [batch.tolist() for batch in epoch]
    after = batches(first)
    assert before != whole != after

    torch.manual_seed(99)
    second = TrainingStream(make())
    second.go_on(done, state, now)
    assert batches(second) == whole[done:]
    assert batches(second) == after


@pytest.mark.parametrize(("make", "count"), [(shuffled, 0), (sampled, 1), (weighted, 1), (own_generator, 1)])
def test_generators_of_their_own_are_in_the_state_once(make, count):
    assert len(TrainingStream(make()).random_state()["samplers"]) == count


def test_a_limit_counts_what_lies_behind():
    stream = TrainingStream(shuffled(), limit=3)
    assert len(batches(stream)) == 3
    stream.go_on(2, stream.epoch_random, stream.random_state())
    assert len(batches(stream)) == 1
