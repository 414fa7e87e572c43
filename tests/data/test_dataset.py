import pickle

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from adapter.data.dataset import has_length, wrap_dataset


class Numbers(Dataset):
    name = "numbers"

    def __init__(self, *values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]


class Stream(IterableDataset):
    def __init__(self, *values):
        self.values = values
        self.generator = torch.Generator()

    def __iter__(self):
        return iter(self.values)


def double(sample):
    return 2 * sample


@pytest.mark.parametrize(
    ("datasets", "preprocessor", "expected"),
    [
        (Numbers(1, 2), double, [2, 4]),
        (Numbers(1, 2), None, [1, 2]),
        ([Numbers(1), Numbers(2, 3)], double, [2, 4, 6]),
        ([Numbers(1, 2)], None, [1, 2]),
        (Stream(1, 2), double, [2, 4]),
        ([Stream(1), Stream(2, 3)], double, [2, 4, 6]),
    ],
)
def test_samples(datasets, preprocessor, expected):
    dataset = wrap_dataset(datasets, preprocessor)
    assert [int(batch) for batch in DataLoader(dataset)] == expected


def test_nothing_to_do_leaves_the_data_set_alone():
    dataset = Numbers(1)
    assert wrap_dataset(dataset) is dataset
    assert wrap_dataset([dataset]) is dataset


def test_a_wrapped_data_sets_attributes_can_be_read():
    stream = Stream(1)
    assert wrap_dataset(stream, double).generator is stream.generator
    assert wrap_dataset(Numbers(1), double).name == "numbers"
    assert not hasattr(wrap_dataset(Numbers(1), double), "set_epoch")


def test_a_wrapped_data_set_can_be_sent_to_workers():
    assert pickle.loads(pickle.dumps(wrap_dataset(Numbers(3), double)))[0] == 6


@pytest.mark.parametrize(("datasets", "told"), [([Numbers(1), Stream(1)], "Numbers, Stream"), ([], "none")])
def test_lists_that_do_not_go_together_are_refused(datasets, told):
    with pytest.raises(TypeError, match=f"found {told}"):
        wrap_dataset(datasets)


@pytest.mark.parametrize(
    ("datasets", "known"),
    [(Numbers(3), True), ([Numbers(1), Numbers(2)], True), (Stream(1), False), ([Stream(1), Stream(2)], False)],
)
def test_a_stream_has_no_length(datasets, known):
    assert has_length(wrap_dataset(datasets)) is known
    assert has_length(wrap_dataset(datasets, double)) is known
