import random

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset, IterableDataset, RandomSampler, SequentialSampler

from adapter.data.loader import build_loader
from adapter.errors import ConfigError
from adapter.plan import LoaderPlan


class Numbers(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(5))


class Draws(Numbers):
    """What a worker's random streams give first."""

    def __getitem__(self, i):
        return [torch.initial_seed(), np.random.randint(1 << 30), random.randint(0, 1 << 30)]


def batches(loader):
    return [batch.tolist() for batch in loader]


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (LoaderPlan(batch_size=2), [[0, 1], [2, 3], [4]]),
        (LoaderPlan(batch_size=2, drop_last=True), [[0, 1], [2, 3]]),
        (LoaderPlan(batch_size=5, options={"pin_memory": False, "timeout": 0}), [[0, 1, 2, 3, 4]]),
    ],
)
@pytest.mark.parametrize("dataset", [Numbers(5), Stream()])
def test_batches_in_order(dataset, plan, expected):
    assert batches(build_loader(dataset, plan)) == expected


def test_a_stream_is_never_shuffled():
    assert batches(build_loader(Stream(), LoaderPlan(batch_size=5, shuffle=True))) == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize(("shuffle", "kind"), [(True, RandomSampler), (False, SequentialSampler)])
def test_one_process_uses_torchs_samplers_and_the_global_random_stream(shuffle, kind):
    loader = build_loader(Numbers(5), LoaderPlan(shuffle=shuffle))
    assert type(loader.sampler) is kind
    assert loader.generator is None


def test_a_sampler_takes_the_place_of_shuffle():
    loader = build_loader(Numbers(5), LoaderPlan(batch_size=3, shuffle=True), sampler=[4, 2, 0], world_size=2)
    assert batches(loader) == [[4, 2, 0]]


@pytest.mark.parametrize("shuffle", [True, False])
def test_processes_share_the_data(shuffle):
    loaders = [build_loader(Numbers(6), LoaderPlan(3, shuffle=shuffle), rank=rank, world_size=2) for rank in (0, 1)]
    assert sorted(i for loader in loaders for batch in batches(loader) for i in batch) == [0, 1, 2, 3, 4, 5]


def test_collate_fn_makes_the_batch():
    loader = build_loader(Numbers(3), LoaderPlan(batch_size=3), collate_fn=sum)
    assert list(loader) == [3]


def test_workers_are_seeded_by_process_and_number():
    plan = LoaderPlan(batch_size=1, num_workers=2)
    loader = build_loader(Draws(2), plan, collate_fn=lambda samples: samples[0], seed=42, rank=1)
    expected = []
    for seed in (44, 45):  # 2 workers * rank 1 + worker + 42
        np.random.seed(seed)
        random.seed(seed)
        expected.append([seed, np.random.randint(1 << 30), random.randint(0, 1 << 30)])
    assert list(loader) == expected


@pytest.mark.parametrize(
    ("options", "key", "told"),
    [
        (
            {"persistent_worker": True},
            "train.dataloader.persistent_worker",
            "Did you mean 'persistent_workers'?",
        ),
        ({"collate_fn": "sum"}, "train.dataloader.collate_fn", "unknown option"),
        ({"persistent_workers": True}, "train.dataloader", "num_workers > 0"),
        ({"prefetch_factor": 2}, "train.dataloader", "prefetch_factor"),
    ],
)
def test_options_that_do_not_go_are_refused(options, key, told):
    with pytest.raises(ConfigError) as caught:
        build_loader(Numbers(3), LoaderPlan(options=options))
    assert [problem.key for problem in caught.value.problems] == [key]
    assert told in str(caught.value)
