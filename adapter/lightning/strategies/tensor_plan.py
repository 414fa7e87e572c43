"""Tensor parallelism: which layers of a model are split over the processes of a group, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from torch import nn
from torch.distributed.device_mesh import DeviceMesh

from adapter.errors import ConfigError, Problem, nearest

PLAN_KEY = "megatron.tensor_parallel_plan"
PLAN_METHOD = "tensor_parallel_plan"
STYLES = ("colwise", "rowwise", "colwise_rep")
# Layer, style -> the attribute with the size that is divided.
DIVIDED = {
    (nn.Linear, "colwise"): "out_features",
    (nn.Linear, "colwise_rep"): "out_features",
    (nn.Linear, "rowwise"): "in_features",
    (nn.Embedding, "colwise"): "embedding_dim",
    (nn.Embedding, "colwise_rep"): "embedding_dim",
    (nn.Embedding, "rowwise"): "num_embeddings",
}


def plan_of(model: nn.Module, table: Mapping[str, Any]) -> dict[str, Any]:
    """Module name pattern to style: the config's table, else what the model's ``tensor_parallel_plan()`` returns.

    Raises:
        ConfigError: Neither is there.
    """
    own = getattr(model, PLAN_METHOD, None)
    plan = dict(table) or (dict(own()) if callable(own) else {})
    if not plan:
        found = f"not given, and {type(model).__name__} has no method {PLAN_METHOD}"
        fix = f'add {{"layers.*.up": "colwise", "layers.*.down": "rowwise"}} with your layers\' names as {PLAN_KEY}'
        raise ConfigError(Problem(PLAN_KEY, found, fix=fix, kind="missing"))
    return plan


def check_plan(model: nn.Module, plan: Mapping[str, Any], size: int) -> None:
    """Refuse a plan that does not fit a model.

    Args:
        model: The model, before it is split.
        plan: Module name pattern to ``colwise``, ``rowwise``, ``colwise_rep`` or a torch ``ParallelStyle``.
        size: Processes a layer is split over.

    Raises:
        ConfigError: Patterns that match no module, unknown styles, layers of a kind that cannot be split, or whose
            size the number of processes does not divide.
    """
    problems = [problem for pattern, style in plan.items() for problem in _problems(model, pattern, style, size)]
    if problems:
        raise ConfigError(problems)


def split(model: nn.Module, mesh: DeviceMesh, plan: Mapping[str, Any]) -> None:
    """Split a model's layers in place; their weights become DTensors.

    Args:
        model: The model; layers that the plan does not name stay whole on each process.
        mesh: One-dimensional, over the processes of a tensor group.
        plan: As checked by ``check_plan``.
    """
    from torch.distributed.tensor.parallel import parallelize_module

    for pattern, style in plan.items():
        for _, module in _matching(model, pattern):
            parallelize_module(module, mesh, _style(style, module))


def _style(style: Any, module: nn.Module) -> Any:
    """torch's object for a style's name; activations between ``colwise`` and ``rowwise`` stay split."""
    from torch.distributed.tensor import Replicate
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

    if style == "colwise":
        return ColwiseParallel()
    if style == "colwise_rep":
        return ColwiseParallel(output_layouts=Replicate())
    if style == "rowwise":
        whole_input = isinstance(module, nn.Embedding)  # numbers of rows, which every process needs
        return RowwiseParallel(input_layouts=Replicate()) if whole_input else RowwiseParallel()
    return style


def _matching(model: nn.Module, pattern: str) -> list[tuple[str, nn.Module]]:
    """Modules whose dotted name matches; ``*`` stands for any part of one name between dots."""
    steps = pattern.split(".")
    return [
        (name, module)
        for name, module in model.named_modules()
        if len(parts := name.split(".")) == len(steps) and all(map(fnmatchcase, parts, steps))
    ]


def _problems(model: nn.Module, pattern: str, style: Any, size: int) -> Iterator[Problem]:
    key = f"{PLAN_KEY}.{pattern}"
    if isinstance(style, str) and style not in STYLES:
        yield Problem(key, f"found {style!r}", ", ".join(STYLES), nearest(style, STYLES))
        return
    modules = _matching(model, pattern)
    if not modules:
        known = [name for name, module in model.named_modules() if isinstance(module, (nn.Linear, nn.Embedding))]
        allowed = f"names such as {', '.join(known[:5])}"
        yield Problem(key, "matches no module of the model", allowed, nearest(pattern, known), kind="name")
    for name, module in modules if isinstance(style, str) else []:
        yield from _does_not_divide(key, name, module, style, size)


def _does_not_divide(key: str, name: str, module: nn.Module, style: str, size: int) -> Iterator[Problem]:
    kind = next((kind for kind in (nn.Linear, nn.Embedding) if isinstance(module, kind)), None)
    if kind is None:
        found = f"'{name}' is a {type(module).__name__}"
        yield Problem(key, found, "Linear and Embedding layers", fix=f"return its ParallelStyle from {PLAN_METHOD}()")
        return
    attribute = DIVIDED[kind, style]
    number = getattr(module, attribute)
    if number % size:
        found = f"'{name}' has {attribute}={number}, which {size} processes do not divide"
        yield Problem(key, found, fix="choose another tensor_model_parallel_size, or leave the layer whole")
