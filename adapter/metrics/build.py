"""From ``evaluation.metrics`` to metrics."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torchmetrics
from torch import nn

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


def keep_apart(metric: Metric) -> None:
    """Keep what torchmetrics holds inside a metric from merging itself with other processes': that is the trainer's."""
    held = [
        part for value in vars(metric).values() for part in (value if isinstance(value, (list, tuple)) else [value])
    ]
    for module in held:
        for part in module.modules() if isinstance(module, nn.Module) else ():
            if isinstance(part, torchmetrics.Metric):
                part.distributed_available_fn = _alone


def _alone() -> bool:
    return False


def _build(component: Component, key: str) -> Metric:
    name, args = component.type, component.args
    cls: Any = _class_of(name, key)
    if inspect.isclass(cls) and issubclass(cls, torchmetrics.Metric):
        return build_torchmetrics(cls, name, args, key)
    if not (inspect.isclass(cls) and issubclass(cls, Metric)):
        allowed = "a subclass of adapter.Metric or of torchmetrics.Metric"
        raise ConfigError(Problem(f"{key}.type", f"'{name}' is no metric", allowed, kind="name"))
    check_arguments(cls, args, key)
    try:
        return cls(**args)
    except ConfigError as error:
        raise ConfigError([replace(problem, key=f"{key}.{problem.key}") for problem in error.problems]) from error
    except REFUSALS as error:
        raise ConfigError(Problem(key, f"{name} refuses its arguments: {reason_of(error)}")) from error


def _class_of(name: str, key: str) -> Any:
    """The class of that name; a metric's module imports the packages it needs."""
    try:
        return METRICS.resolve(name, f"{key}.type")
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        fix = f"pip install {package}, or 'ms-lightning-adapter[metrics]' for all that built-in metrics need"
        raise ConfigError(Problem(key, f"{name} needs the package {package}", fix=fix)) from error
