"""From ``train.lr_scheduler`` to a scheduler over an optimizer."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from adapter.errors import ConfigError, Problem
from adapter.registry import LR_SCHEDULER, check_arguments

if TYPE_CHECKING:
    from adapter.plan import Component


def build_scheduler(optimizer: Optimizer, component: Component) -> LRScheduler:
    """The scheduler a config names: one of torch's, a registered one, or an import path.

    Whether it steps by epoch or by iteration is up to the hook that steps it.

    Raises:
        ConfigError: Unknown name, something that is no scheduler, arguments it does not take or values it
            refuses.
    """
    cls = check_scheduler(component)
    key = component.key or "lr_scheduler"
    try:
        scheduler = cls(optimizer, **component.args)
    except (TypeError, ValueError, AttributeError) as error:  # what torch raises for bad values
        raise ConfigError(Problem(key, f"{component.type} refuses its arguments: {error}")) from error
    if not isinstance(scheduler, LRScheduler):
        raise _not_a_scheduler(component.type, key)
    return scheduler


def check_scheduler(component: Component) -> Any:
    """The class of the scheduler a config names, which takes the arguments given; nothing is built.

    Raises:
        ConfigError: Unknown name, something that is not a scheduler, or arguments it does not take.
    """
    key = component.key or "lr_scheduler"
    cls = LR_SCHEDULER.resolve(component.type, f"{key}.type")
    if inspect.isclass(cls) and not issubclass(cls, LRScheduler):
        raise _not_a_scheduler(component.type, key)
    check_arguments(cls, {"optimizer": None, **component.args}, key)
    return cls


def _not_a_scheduler(name: str, key: str) -> ConfigError:
    problem = Problem(
        f"{key}.type",
        f"'{name}' is no scheduler",
        allowed="a subclass of torch.optim.lr_scheduler.LRScheduler, or a function that returns one",
        fix="a warmup belongs under lr_scheduler.options.warmup",
        kind="name",
    )
    return ConfigError(problem)
