"""Transforms of torchvision as preprocessors: each takes a sample, and changes the image in it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import torch

from adapter.data.dataset import Preprocessor
from adapter.errors import REFUSALS, ConfigError, Problem, nearest, reason_of
from adapter.registry import check_arguments

TRANSFORMS = "torchvision.transforms.v2"


def torchvision_module(name: str, key: str) -> ModuleType:
    """A module of torchvision.

    Raises:
        ConfigError: It is not installed; ``key`` is where the config asks for it.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        found, fix = "images need torchvision, which is not installed", "pip install 'ms-lightning-adapter[vision]'"
        raise ConfigError(Problem(key, found, fix=fix, kind="missing")) from error


def is_transform(cls: Any) -> bool:
    """Whether a class is one of torchvision's transforms."""
    return str(getattr(cls, "__module__", "")).startswith(TRANSFORMS)


def build_transform(
    cls: Any, cfg: Mapping[str, Any], key: str, nested: Callable[[Mapping[str, Any], str], Preprocessor]
) -> Preprocessor:
    """A transform of torchvision from ``{type, **arguments}``.

    Args:
        cls: Its class.
        cfg: Its section. ``interpolation`` and ``dtype`` may be names (``bilinear``, ``float32``); ``transforms``, of
            those that hold others, is a list of sections.
        key: Where it stands in the config.
        nested: Builds the section of another, found at a key.

    Raises:
        ConfigError: Arguments that it does not take or refuses.
    """
    args = {name: _value(name, value, f"{key}.{name}", nested) for name, value in cfg.items() if name != "type"}
    check_arguments(cls, args, key)
    try:
        transform: Preprocessor = cls(**args)
    except REFUSALS as error:
        raise ConfigError(Problem(key, f"{cfg['type']} cannot be built: {reason_of(error)}")) from error
    return transform


def _value(name: str, value: Any, key: str, nested: Callable[[Mapping[str, Any], str], Preprocessor]) -> Any:
    """An argument, as torchvision wants it."""
    if name == "transforms" and isinstance(value, (list, tuple)):
        return [nested(step, f"{key}[{i}]") for i, step in enumerate(value)]
    if name == "interpolation" and isinstance(value, str):
        modes = {mode.value: mode for mode in torchvision_module(TRANSFORMS, key).InterpolationMode}
        return _named(value, modes, key)
    if name == "dtype" and isinstance(value, str):
        dtypes = {name: kind for name, kind in vars(torch).items() if isinstance(kind, torch.dtype)}
        return _named(value, dtypes, key)
    return value


def _named(value: str, known: Mapping[str, Any], key: str) -> Any:
    if value not in known:
        raise ConfigError(Problem(key, f"found '{value}'", ", ".join(known), nearest(value, known), kind="name"))
    return known[value]
