from __future__ import annotations

import numpy as np
import pytest
import torch

from adapter.predictions import batch_size, rows

NAN = float("nan")


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ({"logits": torch.tensor([[1.0, 2.0], [3.0, 4.0]])}, [{"logits": [1.0, 2.0]}, {"logits": [3.0, 4.0]}]),
        ({"best": torch.tensor([3, 4]), "text": ["a", "b"]}, [{"best": 3, "text": "a"}, {"best": 4, "text": "b"}]),
        ({"a": np.array([0.5, 0.25]), "loss": torch.tensor(1.0)}, [{"a": 0.5}, {"a": 0.25}]),
        ({"a": torch.tensor([NAN, 1.0], dtype=torch.bfloat16)}, [{"a": None}, {"a": 1.0}]),
        ([(NAN, torch.tensor([1.0, 2.0])), {"a": np.float32(0.5)}], [{"result": [None, [1.0, 2.0]]}, {"a": 0.5}]),
        ({"of_another_length": torch.zeros(3), "n": 2}, [{}, {}]),
    ],
)
def test_rows(outputs, expected):
    assert list(rows({"x": torch.zeros(2, 5)}, outputs)) == expected


@pytest.mark.parametrize(
    ("batch", "size"),
    [({"n": 1, "x": torch.zeros(3, 2)}, 3), ([torch.zeros(4), torch.zeros(4)], 4), (torch.zeros(5, 1), 5)],
)
def test_batch_size(batch, size):
    assert batch_size(batch) == size


def test_a_batch_without_length():
    with pytest.raises(TypeError, match="a batch of type dict does not show how many samples it holds"):
        batch_size({"n": 1})
