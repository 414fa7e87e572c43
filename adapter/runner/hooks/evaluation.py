"""RunEvaluationHook: evaluate after the first epoch, every so many, and after the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter.hooks.evaluation import EvaluationHook

if TYPE_CHECKING:
    from adapter.runner.trainer import RunTrainer


class RunEvaluationHook(EvaluationHook):
    """Evaluates when the epoch's number, from 0, is a multiple of ``interval``, and after the last epoch.

    Args:
        interval: Epochs between evaluations.
    """

    def __init__(self, interval: int = 1) -> None:
        super().__init__(interval)

    def after_train_epoch(self, trainer: RunTrainer) -> None:
        """Evaluate when one is due."""
        if trainer.epoch % self.interval == 0 or self.is_last_epoch(trainer):
            self.evaluate(trainer)
