"""The schedules of transformers, under the names it gives them.

They warm up linearly over ``num_warmup_steps`` and are ``num_training_steps`` long, both in the unit the schedule
steps in: epochs, or iterations. The length is that of the run when the config does not give it.
"""

from __future__ import annotations

from typing import Any

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from adapter.registry import LR_SCHEDULER


@LR_SCHEDULER.register_module(module_name="linear")
def linear(optimizer: Optimizer, num_warmup_steps: int = 0, num_training_steps: int | None = None) -> LRScheduler:
    """After a warmup, linearly to 0.

    Args:
        optimizer: The optimizer.
        num_warmup_steps: Length of the rise from 0.
        num_training_steps: Length of the schedule, warmup included; the run's by default.
    """
    return _schedule("linear", optimizer, num_warmup_steps, num_training_steps)


@LR_SCHEDULER.register_module(module_name="cosine")
def cosine(
    optimizer: Optimizer,
    num_warmup_steps: int = 0,
    num_training_steps: int | None = None,
    num_cycles: float = 0.5,
) -> LRScheduler:
    """After a warmup, along a cosine to 0.

    Args:
        optimizer: The optimizer.
        num_warmup_steps: Length of the rise from 0.
        num_training_steps: Length of the schedule, warmup included; the run's by default.
        num_cycles: Waves: half a one goes to 0 once.
    """
    return _schedule("cosine", optimizer, num_warmup_steps, num_training_steps, num_cycles=num_cycles)


@LR_SCHEDULER.register_module(module_name="cosine_with_restarts")
def cosine_with_restarts(
    optimizer: Optimizer,
    num_warmup_steps: int = 0,
    num_training_steps: int | None = None,
    num_cycles: int = 1,
) -> LRScheduler:
    """After a warmup, several times along half a cosine wave to 0.

    Args:
        optimizer: The optimizer.
        num_warmup_steps: Length of the rise from 0.
        num_training_steps: Length of the schedule, warmup included; the run's by default.
        num_cycles: How often it goes down to 0.
    """
    return _schedule("cosine_with_restarts", optimizer, num_warmup_steps, num_training_steps, num_cycles=num_cycles)


@LR_SCHEDULER.register_module(module_name="polynomial")
def polynomial(
    optimizer: Optimizer,
    num_warmup_steps: int = 0,
    num_training_steps: int | None = None,
    lr_end: float = 1e-7,
    power: float = 1.0,
) -> LRScheduler:
    """After a warmup, to ``lr_end`` along a polynomial.

    Args:
        optimizer: The optimizer.
        num_warmup_steps: Length of the rise from 0.
        num_training_steps: Length of the schedule, warmup included; the run's by default.
        lr_end: Rate at the end.
        power: Degree of the polynomial.
    """
    more = {"lr_end": lr_end, "power": power}
    return _schedule("polynomial", optimizer, num_warmup_steps, num_training_steps, **more)


@LR_SCHEDULER.register_module(module_name="constant")
def constant(optimizer: Optimizer) -> LRScheduler:
    """The same rate throughout.

    Args:
        optimizer: The optimizer.
    """
    return _schedule("constant", optimizer)


@LR_SCHEDULER.register_module(module_name="constant_with_warmup")
def constant_with_warmup(optimizer: Optimizer, num_warmup_steps: int = 0) -> LRScheduler:
    """After a warmup, the same rate throughout.

    Args:
        optimizer: The optimizer.
        num_warmup_steps: Length of the rise from 0.
    """
    return _schedule("constant_with_warmup", optimizer, num_warmup_steps)


@LR_SCHEDULER.register_module(module_name="inverse_sqrt")
def inverse_sqrt(optimizer: Optimizer, num_warmup_steps: int = 0, timescale: int | None = None) -> LRScheduler:
    """After a warmup, with the inverse square root of the steps.

    Args:
        optimizer: The optimizer.
        num_warmup_steps: Length of the rise from 0.
        timescale: Steps that count as one; the warmup's length by default.
    """
    return _schedule("inverse_sqrt", optimizer, num_warmup_steps, timescale=timescale)


@LR_SCHEDULER.register_module(module_name="cosine_with_min_lr")
def cosine_with_min_lr(
    optimizer: Optimizer,
    num_warmup_steps: int = 0,
    num_training_steps: int | None = None,
    num_cycles: float = 0.5,
    min_lr: float | None = None,
    min_lr_rate: float | None = None,
) -> LRScheduler:
    """As ``cosine``, but not down to 0.

    Args:
        optimizer: The optimizer.
        num_warmup_steps: Length of the rise from 0.
        num_training_steps: Length of the schedule, warmup included; the run's by default.
        num_cycles: Waves: half a one goes down once.
        min_lr: Rate at the end; either this or ``min_lr_rate``.
        min_lr_rate: Rate at the end, as a fraction of the first one.
    """
    more = {"num_cycles": num_cycles, "min_lr": min_lr, "min_lr_rate": min_lr_rate}
    return _schedule("cosine_with_min_lr", optimizer, num_warmup_steps, num_training_steps, **more)


@LR_SCHEDULER.register_module(module_name="cosine_warmup_with_min_lr")
def cosine_warmup_with_min_lr(
    optimizer: Optimizer,
    num_warmup_steps: int = 0,
    num_training_steps: int | None = None,
    num_cycles: float = 0.5,
    min_lr: float | None = None,
    min_lr_rate: float | None = None,
    warmup_lr_rate: float | None = None,
) -> LRScheduler:
    """As ``cosine_with_min_lr``, with a warmup that need not start from 0.

    Args:
        optimizer: The optimizer.
        num_warmup_steps: Length of the rise from 0.
        num_training_steps: Length of the schedule, warmup included; the run's by default.
        num_cycles: Waves: half a one goes down once.
        min_lr: Rate at the end; either this or ``min_lr_rate``.
        min_lr_rate: Rate at the end, as a fraction of the first one.
        warmup_lr_rate: Rate the warmup starts from, as a fraction.
    """
    more = {"num_cycles": num_cycles, "min_lr": min_lr, "min_lr_rate": min_lr_rate, "warmup_lr_rate": warmup_lr_rate}
    return _schedule("cosine_warmup_with_min_lr", optimizer, num_warmup_steps, num_training_steps, **more)


@LR_SCHEDULER.register_module(module_name="warmup_stable_decay")
def warmup_stable_decay(
    optimizer: Optimizer,
    num_decay_steps: int,
    num_warmup_steps: int = 0,
    num_training_steps: int | None = None,
    num_stable_steps: int | None = None,
    **more: Any,
) -> LRScheduler:
    """After a warmup, the same rate for a while, then a decay.

    Args:
        optimizer: The optimizer.
        num_decay_steps: Length of the decay.
        num_warmup_steps: Length of the rise from 0.
        num_training_steps: Length of the schedule, warmup included; the run's by default.
        num_stable_steps: Length of the constant part; what is left of the run by default.
        more: ``warmup_type``, ``decay_type``, ``min_lr_ratio``, ``num_cycles``.
    """
    if num_stable_steps is not None:
        num_training_steps = None  # transformers takes one of the two
    more = {"num_decay_steps": num_decay_steps, "num_stable_steps": num_stable_steps, **more}
    return _schedule("warmup_stable_decay", optimizer, num_warmup_steps, num_training_steps, **more)


def _schedule(
    name: str, optimizer: Optimizer, warmup: int | None = None, length: int | None = None, **more: Any
) -> LRScheduler:
    from transformers.optimization import get_scheduler

    return get_scheduler(name, optimizer, warmup, length, scheduler_specific_kwargs=more)
