"""From ``train.lr_scheduler`` to a scheduler over an optimizer."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from adapter.errors import REFUSALS, ConfigError, Problem, reason_of
from adapter.registry import LR_SCHEDULER, check_arguments

if TYPE_CHECKING:
    from adapter.plan import Component


LENGTH = "num_training_steps"  # an argument that is the run's to give


def build_scheduler(
    optimizer: Optimizer, component: Component, run_length: Callable[[], int] | None = None
) -> LRScheduler:
    """The scheduler a config names: one of torch's, a registered one, or an import path.

    Whether it steps by epoch or by iteration is up to the hook that steps it.

    Args:
        optimizer: The optimizer.
        component: From the config.
        run_length: How often the run steps the schedule, for one that takes ``num_training_steps`` and is not given it.

    Raises:
        ConfigError: Unknown name, something that is no scheduler, arguments it does not take or values it
            refuses.
    """
    cls = check_scheduler(component)
    key = component.key or "lr_scheduler"
    args = dict(component.args)
    if run_length is not None and takes_length(cls) and args.get(LENGTH) is None:
        args[LENGTH] = run_length()
    try:
        scheduler = cls(optimizer, **args)
    except REFUSALS as error:
        raise ConfigError(Problem(key, f"{component.type} refuses its arguments: {reason_of(error)}")) from error
    if not isinstance(scheduler, LRScheduler):
        raise _not_a_scheduler(component.type, key)
    return scheduler


def check_scheduler(component: Component, optimizer: Optimizer | None = None) -> Any:
    """The class of the scheduler a config names, which takes the arguments given.

    Args:
        component: From the config.
        optimizer: One that belongs to no model: the scheduler is built over it and makes a step, on trial.

    Raises:
        ConfigError: Unknown name, something that is not a scheduler, arguments it does not take, or values it refuses.
    """
    key = component.key or "lr_scheduler"
    cls = LR_SCHEDULER.resolve(component.type, f"{key}.type")
    if inspect.isclass(cls) and not issubclass(cls, LRScheduler):
        raise _not_a_scheduler(component.type, key)
    check_arguments(cls, component.args, key, passed=("optimizer",))
    if optimizer is not None:
        args = {LENGTH: 1, **component.args} if takes_length(cls) else component.args
        try:
            _try(cls(optimizer, **args))
        except ImportError as error:
            package = str(error.name).partition(".")[0]
            found = f"'{component.type}' needs the package {package}, which is not installed"
            raise ConfigError(Problem(f"{key}.type", found, fix=f"pip install {package}", kind="name")) from error
        except REFUSALS as error:
            raise ConfigError(Problem(key, f"{component.type} refuses its arguments: {reason_of(error)}")) from error
    return cls


def takes_length(cls: Any) -> bool:
    """Whether a schedule wants to know how often it will step."""
    try:
        return LENGTH in inspect.signature(cls).parameters
    except (TypeError, ValueError):  # classes written in C show no signature
        return False


def _try(scheduler: Any) -> None:
    """Make a step; whatever the scheduler watches is at 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the optimizer has not stepped before
        if isinstance(scheduler, ReduceLROnPlateau):
            scheduler.step(0.0)
        elif isinstance(scheduler, LRScheduler):
            scheduler.step()


def _not_a_scheduler(name: str, key: str) -> ConfigError:
    problem = Problem(
        f"{key}.type",
        f"'{name}' is no scheduler",
        allowed="a subclass of torch.optim.lr_scheduler.LRScheduler, or a function that returns one",
        fix="a warmup belongs under lr_scheduler.options.warmup",
        kind="name",
    )
    return ConfigError(problem)
