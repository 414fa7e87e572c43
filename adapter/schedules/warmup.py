"""Warmups: the learning rate's way up at the start of a run.

While a warmup lasts, each step starts the schedule's own rule from the base rate again, and scales what it
gives. So a rule that works on the rate before it (StepLR, CosineAnnealingLR and most others) does not add up
over the warmup, and the steps after it continue from the base rate. Rates equal ModelScope's to the last bit.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from adapter.errors import ConfigError, Problem
from adapter.registry import LR_SCHEDULER, check_arguments


class Warmup(ABC):
    """Steps a scheduler, and scales the rates it sets, by a factor that ends at 1.

    The unit of ``warmup_iters`` is the one the scheduler is stepped in: epochs or iterations. A warmup keeps
    no state: ``scheduler.last_epoch`` says how far it is, so the scheduler's own state is all that a
    checkpoint needs. Around a scheduler that has been stepped before, it leaves the rates as they are.

    Args:
        scheduler: The schedule to warm up; its ``get_last_lr()`` keeps giving rates before scaling.
        warmup_iters: Steps until the factor is 1.
        warmup_ratio: Factor before the first step.
    """

    def __init__(self, scheduler: LRScheduler, warmup_iters: int, warmup_ratio: float = 0.1) -> None:
        self.scheduler = scheduler
        self.warmup_iters = warmup_iters
        self.warmup_ratio = warmup_ratio
        if scheduler.last_epoch == 0:
            self._start()

    @abstractmethod
    def factor(self, count: int) -> float:
        """What to multiply the rate with after ``count`` steps, for ``count < warmup_iters``."""

    def step(self) -> None:
        """Advance the schedule by one epoch or iteration."""
        if self.scheduler.last_epoch + 1 > self.warmup_iters:
            self.scheduler.step()
            return
        self._scale(1.0)
        self.scheduler.step()
        count = self.scheduler.last_epoch
        if count < self.warmup_iters:
            for group in self.scheduler.optimizer.param_groups:
                group["lr"] *= self.factor(count)

    def _start(self) -> None:
        if self.warmup_iters > 0:
            self._scale(self.factor(0))
            return
        with warnings.catch_warnings():  # torch warns of a scheduler that steps before its optimizer
            warnings.simplefilter("ignore", UserWarning)
            self.scheduler.step()  # without a warmup ModelScope's schedule runs one step ahead

    def _scale(self, factor: float) -> None:
        for group, base in zip(self.scheduler.optimizer.param_groups, self.scheduler.base_lrs, strict=True):
            group["lr"] = base * factor


@LR_SCHEDULER.register_module()
class ConstantWarmup(Warmup):
    """The factor is ``warmup_ratio`` until it is 1."""

    def factor(self, count: int) -> float:
        """``warmup_ratio``, whatever the count."""
        return self.warmup_ratio


@LR_SCHEDULER.register_module()
class LinearWarmup(Warmup):
    """The factor grows by equal amounts."""

    def factor(self, count: int) -> float:
        """``1 - (1 - count / warmup_iters) * (1 - warmup_ratio)``."""
        return 1 - (1 - count / self.warmup_iters) * (1 - self.warmup_ratio)


@LR_SCHEDULER.register_module()
class ExponentialWarmup(Warmup):
    """The factor grows by equal ratios."""

    def factor(self, count: int) -> float:
        """``warmup_ratio ** (1 - count / warmup_iters)``."""
        return self.warmup_ratio ** (1 - count / self.warmup_iters)


def build_warmup(
    scheduler: LRScheduler, cfg: Mapping[str, Any], key: str = "train.lr_scheduler.options.warmup"
) -> Warmup:
    """The warmup of ``{type, warmup_iters, warmup_ratio}``; step it in the scheduler's place.

    Raises:
        ConfigError: Unknown type, one that is no warmup, wrong arguments, or a scheduler that has no warmup.
    """
    args = {name: value for name, value in cfg.items() if name != "type"}
    cls = LR_SCHEDULER.resolve(cfg.get("type"), f"{key}.type")
    if not (isinstance(cls, type) and issubclass(cls, Warmup)):
        allowed = "LinearWarmup, ConstantWarmup, ExponentialWarmup, or a subclass of Warmup"
        raise ConfigError(Problem(f"{key}.type", f"'{cfg['type']}' is no warmup", allowed, kind="name"))
    if isinstance(scheduler, ReduceLROnPlateau):
        raise ConfigError(Problem(key, "ReduceLROnPlateau takes no warmup", fix="remove the warmup"))
    check_arguments(cls, {"scheduler": scheduler, **args}, key)
    return cls(scheduler, **args)
