import pytest
import torch

from adapter.data.collect import Collect
from adapter.errors import MissingEntryError

SAMPLE = {"image": torch.ones(1), "label": 4, "path": "a.png"}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["image", "label"], ["image", "label"]),
        (["img", "gt_labels"], ["img", "gt_labels"]),
        (["labels", "path"], ["labels", "path"]),
        ("img", ["img"]),
    ],
)
def test_keeps_entries_under_the_names_that_are_asked_for(keys, expected):
    collected = Collect(keys)(SAMPLE)
    assert list(collected) == expected
    assert all(collected[key] == SAMPLE["label"] for key in collected if "label" in key)


def test_an_entry_that_is_not_there():
    with pytest.raises(MissingEntryError, match=r"to keep 'boxes'.*image, label, path"):
        Collect(["img", "boxes"])(SAMPLE)
