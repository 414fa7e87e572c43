"""How a model's forward wants its batch."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, MutableMapping
from functools import lru_cache
from types import MethodType
from typing import Any

from torch import nn

from adapter.errors import MissingEntryError, Problem


def takes_one_mapping(model: nn.Module) -> bool:
    """Whether ``forward`` takes the batch as one mapping, rather than its columns as keywords.

    That is the case when its only parameter is called ``input`` or ``inputs``, or is annotated as a mapping.
    """
    return _one_mapping(*_bare(model.forward))


def _is_mapping(annotation: object) -> bool:
    if isinstance(annotation, str):  # annotations kept as text, under `from __future__ import annotations`
        name = annotation.partition("[")[0].rpartition(".")[2]
        return name in ("dict", "Dict", "Mapping", "MutableMapping")
    origin = typing.get_origin(annotation) or annotation
    return isinstance(origin, type) and issubclass(origin, Mapping)


def call_model(model: nn.Module, batch: Any) -> dict[str, Any]:
    """Run a batch through a model.

    Args:
        model: Its ``forward`` takes the columns of a mapping as keywords, or the mapping whole; the items of a list
            or tuple by position when it has a parameter for each, else the list whole; anything else as its argument.
        batch: What the collator made.

    Returns:
        The model's output as a dict, or the output itself where it is a mutable mapping.

    Raises:
        TypeError: The output is neither a mapping nor has ``to_dict``.
        MissingEntryError: The batch has other columns than ``forward`` takes.
    """
    if type(batch) is dict or isinstance(batch, Mapping):
        try:
            outputs = model(batch) if takes_one_mapping(model) else model(**batch)
        except TypeError as error:
            _check_columns(model, batch, error)
            raise
    elif isinstance(batch, (tuple, list)) and _positions(*_bare(model.forward)) > 1:
        outputs = model(*batch)
    else:
        outputs = model(batch)
    if type(outputs) is dict or isinstance(outputs, MutableMapping):
        return outputs  # type: ignore[return-value]
    if isinstance(outputs, Mapping):
        return dict(outputs)
    if hasattr(outputs, "to_dict"):
        return dict(outputs.to_dict())
    raise TypeError(
        f"the model's forward must return a dict, or an object with to_dict(); it returned {type(outputs).__name__}"
    )


def _check_columns(model: nn.Module, batch: Mapping[str, Any], error: TypeError) -> None:
    """Refuse a batch whose columns are not those that ``forward`` takes."""
    signature = inspect.signature(model.forward)
    if takes_one_mapping(model):
        return
    try:
        signature.bind(**batch)
    except TypeError as mismatch:
        name = type(model).__name__
        found = f"a batch has {', '.join(map(str, batch))}, which {name}.forward does not take: {mismatch}"
        raise MissingEntryError(Problem("dataset", found, allowed=", ".join(signature.parameters))) from error


def losses_of(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """What an iteration's output adds to the log: its ``log_vars``, else every value whose name contains ``loss``."""
    if "log_vars" in outputs:
        return dict(outputs["log_vars"])
    return {name: value for name, value in outputs.items() if "loss" in name and value is not None}


def _bare(forward: Callable[..., Any]) -> tuple[Callable[..., Any], bool]:
    """The function below a method, which can be kept without keeping its model alive, and whether there was one."""
    function = getattr(forward, "__func__", None)
    return (forward, False) if function is None else (function, True)


@lru_cache(maxsize=256)
def _one_mapping(forward: Callable[..., Any], is_method: bool) -> bool:
    """``takes_one_mapping`` of a bare function; kept, since reading a signature takes longer than a small step."""
    parameters = _parameters(forward, is_method)
    if len(parameters) != 1 or parameters[0].kind is not parameters[0].POSITIONAL_OR_KEYWORD:
        return False
    return parameters[0].name in ("input", "inputs") or _is_mapping(parameters[0].annotation)


@lru_cache(maxsize=256)
def _positions(forward: Callable[..., Any], is_method: bool) -> float:
    """How many arguments of a batch a bare function takes by position."""
    parameters = _parameters(forward, is_method)
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return float("inf")
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def _parameters(forward: Callable[..., Any], is_method: bool) -> list[inspect.Parameter]:
    """Parameters for the batch: without a method's first, whatever it is called."""
    return list(inspect.signature(MethodType(forward, forward) if is_method else forward).parameters.values())
