from __future__ import annotations

import pytest
import torch
from torch import nn

from adapter.checkpoint.weights import load_weights


def model():
    return nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))


def some(*names, **others):
    state = {name: torch.full_like(value, 7) for name, value in model().state_dict().items()}
    return {**{name: state[name] for name in names or state}, **others}


def test_loads():
    filled = model()
    assert load_weights(filled, some(), strict=True) == []
    assert {value.unique().item() for value in filled.state_dict().values()} == {7.0}


@pytest.mark.parametrize(
    ("weights", "sentences"),
    [
        (some("0.weight", "0.bias", "1.weight"), ["1 parameters are missing from the checkpoint: 1.bias"]),
        (some(extra=torch.ones(1)), ["1 parameters are not in the model: extra"]),
        (
            {f"x{i}": torch.ones(1) for i in range(7)},
            [
                "4 parameters are missing from the checkpoint: 0.weight, 0.bias, 1.weight, 1.bias",
                "7 parameters are not in the model: x0, x1, x2, x3, x4 and 2 more",
            ],
        ),
    ],
)
def test_names_that_only_one_side_has(weights, sentences):
    assert load_weights(model(), weights) == sentences
    with pytest.raises(ValueError, match="the weights do not fit the model: "):
        load_weights(model(), weights, strict=True)


def test_a_shape_that_does_not_fit():
    weights = some()
    weights["0.weight"] = torch.ones(3, 2)
    with pytest.raises(ValueError, match=r"(?s)the weights do not fit the model: .*0\.weight"):
        load_weights(model(), weights)


@pytest.mark.parametrize("weights", [[1, 2], torch.ones(2), None, "weights"])
def test_what_are_no_weights(weights):
    found = type(weights).__name__
    with pytest.raises(ValueError, match=f"no weights there: expected names and tensors, found {found}"):
        load_weights(model(), weights)
