"""How a batch reaches a model's forward, and what comes back."""

from __future__ import annotations

from collections import OrderedDict, UserDict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Dict  # noqa: UP035  an older annotation that models carry

import pytest
import torch
from torch import nn

from adapter.errors import ConfigError
from adapter.models.forward import call_model, losses_of, takes_one_mapping

COLUMNS = {"a": 1, "b": 2}


class Keywords(nn.Module):
    def forward(self, a, b=0):
        return {"got": (a, b)}


class AnyKeywords(nn.Module):
    def forward(self, **columns):
        return {"got": columns}


class NamedInput(nn.Module):
    def forward(self, input):
        return {"got": input}


class NamedInputs(nn.Module):
    def forward(self, inputs):
        return {"got": inputs}


class AnnotatedAsText(nn.Module):
    def forward(self, batch: dict[str, Any]):
        return {"got": batch}


class Annotated(nn.Module):
    def forward(self, batch):
        return {"got": batch}


class OneColumn(nn.Module):
    def forward(self, a):
        return {"got": a}


class InputAndMore(nn.Module):
    def forward(self, input, b=None):
        return {"got": (input, b)}


class Positions(nn.Module):
    def forward(self, *items):
        return {"got": items}


class OtherNameForSelf(nn.Module):
    def forward(s, inputs):
        return {"got": inputs}


class SelfAmongTheItems(nn.Module):
    def forward(*items):
        return {"got": items[1:]}


def plain_function(forward: Any) -> nn.Module:
    """A model whose forward is no method: it has no parameter for the model."""
    model = Keywords()
    model.forward = forward
    return model


def annotated(kind: Any) -> nn.Module:
    """A model whose forward is annotated with a type, rather than with its name as text."""
    model = type("Own", (Annotated,), {"forward": lambda self, batch: {"got": batch}})
    model.forward.__annotations__["batch"] = kind
    return model()


def bound_to_the_object() -> nn.Module:
    model = Keywords()
    model.forward = NamedInput().forward
    return model


@pytest.mark.parametrize(
    ("model", "batch", "got"),
    [
        (Keywords(), COLUMNS, (1, 2)),
        (Keywords(), OrderedDict(COLUMNS), (1, 2)),
        (Keywords(), UserDict(COLUMNS), (1, 2)),
        (Keywords(), {"a": 5}, (5, 0)),
        (AnyKeywords(), COLUMNS, COLUMNS),
        (NamedInput(), COLUMNS, COLUMNS),
        (NamedInputs(), COLUMNS, COLUMNS),
        (AnnotatedAsText(), COLUMNS, COLUMNS),
        (annotated(dict), COLUMNS, COLUMNS),
        (annotated(Dict[str, int]), COLUMNS, COLUMNS),  # noqa: UP006
        (annotated(Mapping[str, int]), COLUMNS, COLUMNS),
        (bound_to_the_object(), COLUMNS, COLUMNS),
        (OneColumn(), {"a": 3}, 3),
        (InputAndMore(), {"input": 1, "b": 2}, (1, 2)),
        (Keywords(), [1, 2], (1, 2)),
        (Keywords(), (1,), (1, 0)),
        (Positions(), [1, 2], (1, 2)),
        (OneColumn(), [1, 2], [1, 2]),
        (OneColumn(), 7, 7),
        (OtherNameForSelf(), COLUMNS, COLUMNS),
        (OtherNameForSelf(), [1, 2], [1, 2]),
        (SelfAmongTheItems(), [1, 2], (1, 2)),
        (plain_function(lambda inputs: {"got": inputs}), COLUMNS, COLUMNS),
        (plain_function(lambda a, b: {"got": (a, b)}), [1, 2], (1, 2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_batch_arrives_as_forward_wants_it(model: nn.Module, batch: Any, got: Any) -> None:
    assert call_model(model, batch)["got"] == got


@pytest.mark.parametrize(
    ("model", "whole"),
    [
        (NamedInput(), True),
        (AnnotatedAsText(), True),
        (annotated(int), False),
        (Annotated(), False),
        (OneColumn(), False),
        (InputAndMore(), False),
        (AnyKeywords(), False),
        (Positions(), False),
        (OtherNameForSelf(), True),
        (SelfAmongTheItems(), False),
        (plain_function(lambda inputs: {}), True),
        (plain_function(lambda self: {}), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whether_forward_takes_the_batch_whole(model: nn.Module, whole: bool) -> None:
    assert takes_one_mapping(model) is whole


def test_a_column_too_many_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"dataset: a batch has a, b, c, which .* unexpected keyword argument 'c'"):
        call_model(Keywords(), {**COLUMNS, "c": 3})


class Returns(nn.Module):
    def __init__(self, output: Any) -> None:
        super().__init__()
        self.output = output

    def forward(self, a):
        return self.output


class WithToDict:
    def to_dict(self) -> dict[str, int]:
        return {"loss": 1}


@pytest.mark.parametrize(
    "output", [{"loss": 1}, OrderedDict(loss=1), UserDict(loss=1), MappingProxyType({"loss": 1}), WithToDict()]
)
def test_an_output_can_be_changed_by_a_hook(output: Any) -> None:
    outputs = call_model(Returns(output), {"a": 1})
    outputs["loss"] = outputs["loss"] + 1
    assert outputs["loss"] == 2


def test_a_mutable_output_stays_the_same_object() -> None:
    output = OrderedDict(loss=1)
    assert call_model(Returns(output), {"a": 1}) is output


@pytest.mark.parametrize(
    ("output", "name"), [(torch.zeros(1), "Tensor"), ((1, 2), "tuple"), (None, "NoneType"), ("loss", "str")]
)
def test_an_output_without_names_is_refused(output: Any, name: str) -> None:
    with pytest.raises(TypeError, match=f"forward must return a dict.*it returned {name}"):
        call_model(Returns(output), {"a": 1})


@pytest.mark.parametrize(
    ("outputs", "logged"),
    [
        ({"loss": 1, "aux_loss": 2, "loss_box": 3, "logits": 4}, {"loss": 1, "aux_loss": 2, "loss_box": 3}),
        ({"loss": None, "logits": 4}, {}),
        ({"loss": 1, "log_vars": {"accuracy": 5}}, {"accuracy": 5}),
        ({"logits": 4}, {}),
    ],
)
def test_what_an_iteration_adds_to_the_log(outputs: dict[str, Any], logged: dict[str, Any]) -> None:
    assert losses_of(outputs) == logged
