"""The mask that keeps the entries with the largest squared gradients."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from adapter.optim.fisher import calculate_fisher


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer0 = nn.Linear(3, 1, bias=False)
        self.head = nn.Linear(1, 1)


@pytest.mark.parametrize(
    ("reserve_p", "kept"),
    [(1.0, [True, True, True]), (0.5, [True, False, True]), (0.1, [False, False, True])],
)
def test_the_share_with_the_largest_mean_square_is_kept(reserve_p: float, kept: list[bool]) -> None:
    net, batches = Net(), [torch.tensor([3.0, 1.0, 2.0]), torch.tensor([0.0, 1.0, 4.0])]  # means 4.5, 1, 10
    mask = calculate_fisher(net, batches, lambda model, batch: (model.layer0.weight * batch).sum(), reserve_p)
    assert {name for name, parameter in net.named_parameters() if parameter in mask} == {"layer0.weight"}
    assert mask[net.layer0.weight].tolist() == [kept]
    assert net.layer0.weight.grad is None


def test_gradients_are_clipped_batch_by_batch() -> None:
    net, batches = (
        Net(),
        [torch.tensor([100.0, 0.0, 0.0]), torch.tensor([0.0, 0.3, 0.0]), torch.tensor([0.0, 0.3, 0.0])],
    )
    losses = {"forward_step": lambda model, batch: (model.layer0.weight * batch).sum(), "reserve_p": 0.4}
    mask = calculate_fisher(net, batches, grad_clip={"max_norm": 0.3}, **losses)
    assert mask[net.layer0.weight].tolist() == [[False, True, False]]


def test_a_model_without_layers_is_refused() -> None:
    with pytest.raises(ValueError, match="no parameter of the model has 'layer' in its name"):
        calculate_fisher(nn.Linear(2, 2), [torch.zeros(2)], lambda model, batch: model(batch).sum(), 0.5)
