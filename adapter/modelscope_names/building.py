"""ModelScope's functions that build one component from a config."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from torch import nn

from adapter.registry import (
    DATASETS,
    DEFAULT_GROUP,
    HOOKS,
    LR_SCHEDULER,
    METRICS,
    MODELS,
    OPTIMIZERS,
    PREPROCESSORS,
    build_from_cfg,
)

Defaults = Mapping[str, Any] | None


def build_optimizer(
    model: nn.Module | Iterable[nn.Parameter], cfg: Mapping[str, Any], default_args: Defaults = None
) -> Any:
    """The optimizer of ``{type, **arguments}`` over a model's parameters, or over parameters."""
    parameters = model.parameters() if isinstance(model, nn.Module) else model
    return build_from_cfg(cfg, OPTIMIZERS, default_args={"params": parameters, **(default_args or {})})


def build_lr_scheduler(cfg: Mapping[str, Any], default_args: Defaults = None) -> Any:
    """The scheduler of ``{type, **arguments}``; the optimizer is one of ``default_args``."""
    return build_from_cfg(cfg, LR_SCHEDULER, default_args=default_args)


def build_hook(cfg: Mapping[str, Any], default_args: Defaults = None) -> Any:
    """The hook of ``{type, **arguments}``."""
    return build_from_cfg(cfg, HOOKS, default_args=default_args)


def build_metric(metric_cfg: str | Mapping[str, Any], field: str = DEFAULT_GROUP, default_args: Defaults = None) -> Any:
    """The metric of a name, or of ``{type, **arguments}``."""
    cfg = {"type": metric_cfg} if isinstance(metric_cfg, str) else metric_cfg
    return build_from_cfg(cfg, METRICS, field, default_args)


def build_model(cfg: Mapping[str, Any], task_name: str | None = None, default_args: Defaults = None) -> Any:
    """The model of ``{type, **arguments}``, one registered for the task first."""
    return build_from_cfg(cfg, MODELS, task_name or DEFAULT_GROUP, default_args)


def build_preprocessor(cfg: Mapping[str, Any], field_name: str | None = None, default_args: Defaults = None) -> Any:
    """The preprocessor of ``{type, **arguments}``, one registered for the field first."""
    return build_from_cfg(cfg, PREPROCESSORS, field_name or DEFAULT_GROUP, default_args)


def build_custom_dataset(cfg: Mapping[str, Any], task_name: str, default_args: Defaults = None) -> Any:
    """The data set of ``{type, **arguments}``, one registered for the task first."""
    return build_from_cfg(cfg, DATASETS, task_name, default_args)
