import pytest
import torch

from adapter.data.collate import RemoveColumnsCollator, forward_columns

SAMPLES = [{"x": torch.tensor(1.0), "note": None}, {"x": torch.tensor(2.0), "note": object()}]


def test_columns_not_kept_need_not_be_collatable():
    batch = RemoveColumnsCollator(["x", "y"])(SAMPLES)
    assert batch.keys() == {"x"}
    assert batch["x"].tolist() == [1.0, 2.0]


def test_another_collator_makes_the_batch_of_what_is_kept():
    assert RemoveColumnsCollator(["x"], lambda samples: [sorted(s) for s in samples])(SAMPLES) == [
        ["x"],
        ["x"],
    ]


def test_samples_that_are_no_mappings_pass():
    assert RemoveColumnsCollator(["x"])([1, 2]).tolist() == [1, 2]


class Keywords(torch.nn.Module):
    def forward(self, x, *, label=None):
        return x


class Anything(torch.nn.Module):
    def forward(self, x, **rest):
        return x


class Whole(torch.nn.Module):
    def forward(self, input):
        return input


class Positional(torch.nn.Module):
    def forward(self, *parts):
        return parts


@pytest.mark.parametrize(
    ("model", "expected"), [(Keywords, {"x", "label"}), (Anything, None), (Whole, None), (Positional, None)]
)
def test_columns_come_from_forwards_signature(model, expected):
    assert forward_columns(model()) == expected
