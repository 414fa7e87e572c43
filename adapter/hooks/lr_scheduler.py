"""LrSchedulerHook, PlateauLrSchedulerHook, NoneLrSchedulerHook: when the learning rate changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter.hooks.following import newest_value
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.hooks.strategy import by_epoch_of
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@HOOKS.register_module()
class LrSchedulerHook(Hook):
    """Steps the scheduler, once an epoch or once an iteration, and puts the learning rate into the log.

    Args:
        by_epoch: Step after each epoch (True) or after each iteration (False); warmup counts in the same unit.
        warmup: ``{type: LinearWarmup | ConstantWarmup | ExponentialWarmup, warmup_iters, warmup_ratio: 0.1}``.
        lr_strategy: ``by_epoch``, ``by_step`` or ``no``; a newer spelling of ``by_epoch`` that wins over it.
    """

    PRIORITY = Priority.LOW
    RANK = -50

    def __init__(
        self, by_epoch: bool = True, warmup: Mapping[str, Any] | None = None, lr_strategy: str | None = None
    ) -> None:
        self.by_epoch = by_epoch_of("lr_strategy", lr_strategy, by_epoch)
        self.warmup = dict(warmup) if warmup else None
        self.stepped: list[Any] = []

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Put the warmup, if there is one, between this hook and the scheduler.

        ``ReduceLROnPlateau`` is left to PlateauLrSchedulerHook.
        """
        from torch.optim.lr_scheduler import ReduceLROnPlateau

        from adapter.checkpoint.steppers import each
        from adapter.schedules.warmup import build_warmup

        found = [one for one in each(trainer.lr_scheduler) if not isinstance(one, ReduceLROnPlateau)]
        self.stepped = [build_warmup(one, self.warmup) for one in found] if self.warmup else found

    def after_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Step, when stepping by iteration, once the first optimizer step has been made; log the rate."""
        if self.by_epoch is False and trainer.iter >= trainer.cumulative_iters - 1:
            self.step(trainer)
        optimizer = trainer.optimizer
        several = isinstance(optimizer, dict)  # asked in every iteration: not of Mapping, which takes longer
        trainer.log_buffer.output["lr"] = rates_of(optimizer) if several else optimizer.param_groups[0]["lr"]

    def after_train_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Step, when stepping by epoch."""
        if self.by_epoch:
            self.step(trainer)

    def step(self, trainer: EpochBasedTrainer) -> None:
        """Advance the scheduler, through its warmup, by one unit."""
        for scheduler in self.stepped:
            scheduler.step()


def rates_of(optimizers: Mapping[str, Any]) -> dict[str, float]:
    """The learning rate of each of several optimizers, by name."""
    return {name: optimizer.param_groups[0]["lr"] for name, optimizer in optimizers.items()}


@HOOKS.register_module()
class PlateauLrSchedulerHook(Hook):
    """Gives ``ReduceLROnPlateau`` the metric it watches, once an epoch.

    Args:
        metric_key: Name of the metric in ``trainer.metric_values``.
        by_epoch: Step after each epoch. False never steps, as under ModelScope (measured); a warning says so.
        lr_strategy: ``by_epoch``, ``by_step`` or ``no``; wins over ``by_epoch``.
    """

    PRIORITY = Priority.LOW
    RANK = -40

    def __init__(self, metric_key: str, by_epoch: bool = True, lr_strategy: str | None = None) -> None:
        self.metric_key = metric_key
        self.by_epoch = by_epoch_of("lr_strategy", lr_strategy, by_epoch)

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Warn when the learning rate will never change."""
        if not self.by_epoch:
            trainer.logger.warning(
                "PlateauLrSchedulerHook steps by epoch only: with by_epoch false, as here, the "
                "learning rate never changes (nor does it under ModelScope)"
            )

    def after_train_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Advance the scheduler with the newest value of the metric; before the first evaluation, leave the rate alone.

        Raises:
            MissingEntryError: The evaluation has no value named ``metric_key``.
        """
        value = newest_value(self, self.metric_key, trainer) if self.by_epoch else None
        if value is not None:
            trainer.lr_scheduler.step(metrics=value)


@HOOKS.register_module()
class NoneLrSchedulerHook(LrSchedulerHook):
    """Puts the learning rate into the log; the user's own code steps the scheduler."""

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Nothing to do."""

    def step(self, trainer: EpochBasedTrainer) -> None:
        """Nothing to do."""
