"""From ``evaluation.metrics`` to metrics."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torchmetrics

from adapter.errors import REFUSALS, ConfigError, Problem, reason_of
from adapter.metrics.metric import Metric
from adapter.metrics.torchmetrics_metric import build_torchmetrics
from adapter.registry import METRICS, check_arguments

if TYPE_CHECKING:
    from adapter.plan import Component


def build_metrics(components: Sequence[Component], key: str = "evaluation.metrics") -> list[Metric]:
    """The metrics a config names: registered ones, torchmetrics classes, or import paths to either kind.

    Raises:
        ConfigError: Every unknown name, class of another kind and wrong argument among them, all at once.
    """
    metrics: list[Metric] = []
    problems: list[Problem] = []
    for i, component in enumerate(components):
        try:
            metrics.append(_build(component, component.key or f"{key}[{i}]"))
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return metrics


def _build(component: Component, key: str) -> Metric:
    name, args = component.type, component.args
    cls: Any = METRICS.resolve(name, f"{key}.type")
    if inspect.isclass(cls) and issubclass(cls, torchmetrics.Metric):
        return build_torchmetrics(cls, name, args, key)
    if not (inspect.isclass(cls) and issubclass(cls, Metric)):
        allowed = "a subclass of adapter.Metric or of torchmetrics.Metric"
        raise ConfigError(Problem(f"{key}.type", f"'{name}' is no metric", allowed, kind="name"))
    check_arguments(cls, args, key)
    try:
        return cls(**args)
    except REFUSALS as error:
        raise ConfigError(Problem(key, f"{name} refuses its arguments: {reason_of(error)}")) from error
