"""Which layers a tensor parallel plan names, and plans that do not fit a model."""

from __future__ import annotations

import pytest
from torch import nn

from adapter import ConfigError
from adapter.lightning.strategies.tensor_plan import check_plan, plan_of


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(4, 6), nn.Linear(6, 4), nn.LayerNorm(4)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(10, 4)
        self.layers = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(4, 3)


class Planned(Model):
    def tensor_parallel_plan(self):
        return {"layers.*.up": "colwise"}


def test_plan_of_prefers_the_config_and_falls_back_to_the_model():
    assert plan_of(Planned(), {"layers.*.down": "rowwise"}) == {"layers.*.down": "rowwise"}
    assert plan_of(Planned(), {}) == {"layers.*.up": "colwise"}
    with pytest.raises(ConfigError, match="Model has no method tensor_parallel_plan"):
        plan_of(Model(), {})


def test_check_plan_accepts_what_fits():
    check_plan(
        Model(), {"layers.*.up": "colwise", "layers.*.down": "rowwise", "words": "colwise_rep", "head": object()}, 2
    )


@pytest.mark.parametrize(
    ("plan", "size", "text"),
    [
        ({"layers.*.up": "column"}, 2, "found 'column'; allowed: colwise, rowwise, colwise_rep"),
        ({"layers.*.upp": "colwise"}, 2, "matches no module of the model; allowed: names such as words, layers.0.up"),
        ({"layer.up": "colwise"}, 2, "matches no module"),
        ({"layers.*.norm": "colwise"}, 2, "'layers.0.norm' is a LayerNorm; allowed: Linear and Embedding layers"),
        ({"layers.*.up": "colwise"}, 4, "'layers.1.up' has out_features=6, which 4 processes do not divide"),
        ({"layers.*.down": "rowwise"}, 4, "in_features=6, which 4 processes do not divide"),
        ({"head": "colwise_rep"}, 2, "out_features=3, which 2 processes do not divide"),
        ({"words": "rowwise"}, 4, "num_embeddings=10, which 4 processes do not divide"),
        ({"words": "colwise"}, 3, "embedding_dim=4, which 3 processes do not divide"),
    ],
)
def test_check_plan_refuses(plan, size, text):
    with pytest.raises(ConfigError) as refused:
        check_plan(Model(), plan, size)
    assert text in str(refused.value)
    assert f"megatron.tensor_parallel_plan.{next(iter(plan))}" in str(refused.value)


def test_check_plan_reports_everything_at_once():
    with pytest.raises(ConfigError) as refused:
        check_plan(Model(), {"layers.*.up": "colwise", "nothing": "colwise", "head": "wise"}, 4)
    assert len(refused.value.problems) == 4
