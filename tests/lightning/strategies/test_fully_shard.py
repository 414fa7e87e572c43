"""Which modules become units of FSDP2."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from adapter import ConfigError
from adapter.lightning.strategies.fully_shard import Sharding, number_formats
from tests.lightning.strategies.test_tensor_plan import Model


class Tied(Model):
    """The head's weight is the embedding's."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(4, 10, bias=False)
        self.out.weight = self.words.weight


@pytest.mark.parametrize(
    ("model", "sharding", "names"),
    [
        (Model, Sharding(), []),
        (Model, Sharding(wrap_classes=("Block",)), ["layers.1", "layers.0"]),
        (Model, Sharding(wrap_classes=("Block", "Embedding")), ["layers.1", "layers.0", "words"]),
        (Model, Sharding(wrap_classes=("Model",)), []),
        (Model, Sharding(min_params=66), ["layers.1", "layers.0"]),  # 30 + 28 + 8
        (Model, Sharding(min_params=67), []),  # no list of blocks is called, so none is a unit
        (Model, Sharding(min_params=30), ["layers.1.up", "layers.1", "layers.0.up", "layers.0", "words"]),
        (Tied, Sharding(wrap_classes=("Block", "Embedding", "Linear")), None),
    ],
)
def test_units(model, sharding, names):
    built = model()
    paths = {id(module): name for name, module in built.named_modules()}
    found = [paths[id(module)] for module in sharding.units(built)]
    if names is None:
        assert not {"words", "out"} & set(found)
        assert {"layers.0", "layers.0.up", "head"} <= set(found)
    else:
        assert found == names


def test_units_refuses_a_class_the_model_has_none_of():
    with pytest.raises(ConfigError, match=r"here\.wrap_classes: the model has no module of class 'Blok'") as refused:
        Sharding(wrap_classes=("Blok",), key="here").units(Model())
    assert refused.value.problems[0].nearest == "Block"


def test_number_formats():
    given = {"param_dtype": "bfloat16", "output_dtype": None, "cast_forward_inputs": True}
    assert number_formats(given) == {**given, "param_dtype": torch.bfloat16}
