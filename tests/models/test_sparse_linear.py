from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from adapter.models.sparse_linear import FACTORS, LowRank, SparseLinear, sparse_layers


@pytest.fixture
def layer():
    torch.manual_seed(0)
    made = SparseLinear.take_over(nn.Linear(5, 4), LowRank(2, 0.5, 3, 0.25, 2.0))
    with torch.no_grad():
        for name in FACTORS:
            getattr(made, name).normal_()
    return made


def test_it_starts_as_the_layer_it_was():
    plain = nn.Linear(5, 4)
    inputs = torch.randn(3, 5)
    sparse = SparseLinear.take_over(copy.deepcopy(plain), LowRank())
    assert torch.equal(sparse(inputs), plain(inputs))
    assert sparse_layers(nn.Sequential(sparse, plain)) == [sparse]


@pytest.mark.parametrize(("sparsity", "zeros"), [(0.0, 0), (0.3, 6), (0.57, 11), (1.0, 20)])
def test_the_least_important_entries_are_dropped(layer, sparsity, zeros):
    layer.sparsity = sparsity
    dense = layer.weight + 0.5 * layer.weight_U @ layer.weight_V
    lines = layer.mask_scores_R[:, None] + layer.mask_scores_C[None]
    importance = dense.abs() + 0.25 * layer.mask_scores_A @ layer.mask_scores_B + 2.0 * lines
    kept = layer.pruned_weight() != 0
    assert int((~kept).sum()) == zeros
    assert torch.equal(layer.pruned_weight()[kept], dense[kept])
    if 0 < zeros < 20:
        assert importance[kept].min() > importance[~kept].max()


def test_gradients_reach_the_updates_and_pass_through_the_mask(layer):
    layer.sparsity = 0.5
    upstream = torch.arange(20.0).reshape(4, 5).cos()
    (layer.pruned_weight() * upstream).sum().backward()
    dense = (layer.weight + 0.5 * layer.weight_U @ layer.weight_V).detach()
    mask = (layer.pruned_weight() != 0).float()
    through = upstream * dense
    to_weight = 0.5 * (upstream * mask + through * dense.sign())
    for name, want in {
        "weight_U": to_weight @ layer.weight_V.T,
        "weight_V": layer.weight_U.T @ to_weight,
        "mask_scores_A": 0.25 * through @ layer.mask_scores_B.T,
        "mask_scores_B": 0.25 * layer.mask_scores_A.T @ through,
        "mask_scores_R": 2.0 * through.sum(1),
        "mask_scores_C": 2.0 * through.sum(0),
    }.items():
        torch.testing.assert_close(getattr(layer, name).grad, want.detach())
    assert layer.weight.grad is None
    assert layer.bias.grad is None


def test_it_becomes_a_plain_layer_again(layer):
    layer.sparsity = 0.5
    inputs = torch.randn(3, 5)
    want = layer(inputs)
    plain = layer.restore()
    assert type(plain) is nn.Linear
    assert plain is layer
    assert sorted(name for name, _ in plain.named_parameters()) == ["bias", "weight"]
    assert torch.equal(plain(inputs), want)
    assert not hasattr(plain, "sparsity")
