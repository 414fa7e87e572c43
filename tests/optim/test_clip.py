"""Clipping whole gradients is torch's; distributed ones are tested where there are processes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from adapter.optim.clip import clip_gradients


@pytest.mark.parametrize(
    "arguments", [{"max_norm": 0.5}, {"max_norm": 1e9}, {"max_norm": 1, "norm_type": float("inf")}]
)
def test_clip_gradients_of_whole_tensors_is_torchs(arguments):
    ours, theirs = [
        [nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(1))] for _ in range(2)
    ]
    for parameters in (ours, theirs):
        parameters[0].grad, parameters[1].grad = torch.tensor([3.0, -4.0, 1.0]), torch.tensor([0.5, 7.0])
    clip_gradients(ours, **arguments)
    nn.utils.clip_grad_norm_(theirs, **arguments)
    assert all(one.grad.equal(other.grad) for one, other in zip(ours[:2], theirs[:2], strict=True))
    assert ours[2].grad is None


def test_clip_gradients_takes_a_model_without_gradients():
    clip_gradients([nn.Parameter(torch.ones(3))], 1.0)
