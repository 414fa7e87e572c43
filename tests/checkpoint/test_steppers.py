from __future__ import annotations

import pytest
import torch

from adapter.checkpoint.steppers import class_names, each, load_state, state_of


def sgd(lr: float = 0.1) -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)


def test_one():
    one, other = sgd(), sgd(0.2)
    assert (each(one), each(None), class_names(one)) == ([one], [], "SGD")
    load_state(other, state_of(one))
    assert other.param_groups[0]["lr"] == 0.1


def test_several():
    some, others = {"g": sgd(0.1), "d": sgd(0.2)}, {"g": sgd(), "d": sgd()}
    assert each(some) == list(some.values())
    assert class_names(some) == "g: SGD, d: SGD"
    load_state(others, state_of(some))
    assert [one.param_groups[0]["lr"] for one in others.values()] == [0.1, 0.2]
    with pytest.raises(ValueError, match="there are g, d, but this run has g"):
        load_state({"g": sgd()}, state_of(some))
