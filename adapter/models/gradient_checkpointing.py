"""Gradient checkpointing: parts of the forward pass are computed twice, in place of being kept."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from adapter.errors import ConfigError, Problem, nearest

KEY = "train.gradient_checkpointing"


def checkpoint_gradients(model: nn.Module, modules: str | list[str] | None = None, use_reentrant: bool = False) -> None:
    """Let a model train with less memory and more time; the numbers stay the same.

    Args:
        model: The model, changed in place.
        modules: Names of modules, or patterns of names (``encoder.layers.*``), whose inner values are computed again
            in the backward pass; those within another one of them are left to it. None leaves the choice to a model
            of transformers.
        use_reentrant: Use torch's older way of doing so.

    Raises:
        ConfigError: No module has such a name; or none is named, and the model cannot choose.
    """
    how = {"use_reentrant": use_reentrant}
    if modules:
        for module in _chosen(model, [modules] if isinstance(modules, str) else modules):
            module.forward = partial(_twice, module.forward, how)
        return
    if not getattr(model, "supports_gradient_checkpointing", False):
        found = f"{type(model).__name__} does not say which of its modules to compute twice"
        fix = f'name them: {{"modules": ["{_names(model)[0]}", ...]}}'
        raise ConfigError(Problem(KEY, found, "a model of transformers, or modules", fix=fix))
    names = "activation_checkpointing_enable", "gradient_checkpointing_enable"  # transformers' since 5, and before
    enable: Any = next(getattr(model, name) for name in names if hasattr(model, name))
    enable(how)
    if use_reentrant and not all(parameter.requires_grad for parameter in model.parameters()):
        model.enable_input_require_grads()  # type: ignore[operator]  # nothing behind frozen embeddings is found else


def _chosen(model: nn.Module, patterns: list[str]) -> list[nn.Module]:
    names = _names(model)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            found, near = f"no module of {type(model).__name__} is called '{pattern}'", nearest(pattern, names)
            raise ConfigError(Problem(f"{KEY}.modules", found, ", ".join(names[:20]), near, kind="name"))
    meant = [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]
    outer = [name for name in meant if not any(name.startswith(f"{other}.") for other in meant)]
    return [model.get_submodule(name) for name in outer]


def _twice(forward: Any, how: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
    """What ``forward`` returns; in training its inner values are not kept."""
    if not torch.is_grad_enabled():
        return forward(*args, **kwargs)
    return checkpoint(forward, *args, **how, **kwargs)


def _names(model: nn.Module) -> list[str]:
    """Names of the modules in a model that compute something, and have parameters; not the model itself."""
    containers = nn.ModuleList, nn.ModuleDict
    named = [(name, module) for name, module in model.named_modules() if name and not isinstance(module, containers)]
    return [name for name, module in named if next(module.parameters(), None) is not None]
