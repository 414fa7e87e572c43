"""EvaluationHook: evaluate during training, by epoch or by iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.hooks.strategy import by_epoch_of
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@HOOKS.register_module()
class EvaluationHook(Hook):
    """Runs ``trainer.evaluate()`` and puts its values into the log as ``evaluation/<name>``.

    Args:
        interval: Epochs or iterations between evaluations; 0 for never.
        by_epoch: Count in epochs (True) or iterations (False).
        start_idx: First epoch or iteration, counted from 1, at which to evaluate; None begins with the first interval.
        eval_strategy: ``by_epoch``, ``by_step`` or ``no``; wins over ``by_epoch``.
    """

    PRIORITY = Priority.NORMAL

    def __init__(
        self,
        interval: int = 1,
        by_epoch: bool = True,
        start_idx: int | None = None,
        eval_strategy: str | None = None,
    ) -> None:
        self.interval = interval
        self.by_epoch = by_epoch_of("eval_strategy", eval_strategy, by_epoch)
        self.start_idx = start_idx

    def after_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Evaluate when counting in iterations and one is due."""
        if self.by_epoch is False and self.due(trainer.iter):
            self.evaluate(trainer)

    def after_train_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Evaluate when counting in epochs and one is due."""
        if self.by_epoch and self.due(trainer.epoch):
            self.evaluate(trainer)

    def due(self, current: int) -> bool:
        """Whether to evaluate after the epoch or iteration ``current``, counted from 0."""
        since_start = current + 1 - (self.start_idx or 0)
        return self.interval > 0 and since_start >= 0 and since_start % self.interval == 0

    def evaluate(self, trainer: EpochBasedTrainer) -> None:
        """Evaluate now and hand the values to the loggers."""
        for name, value in trainer.evaluate().items():
            trainer.log_buffer.output[f"evaluation/{name}"] = value
        trainer.log_buffer.ready = True
