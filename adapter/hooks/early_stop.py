"""EarlyStopHook: end the run when a metric has stopped improving."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from adapter.hooks.following import check_rule, newest_value
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.hooks.strategy import by_epoch_of
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@HOOKS.register_module()
class EarlyStopHook(Hook):
    """Ends the run after the current epoch once ``patience`` checks in a row brought no improvement.

    Args:
        metric_key: Name of the metric in ``trainer.metric_values``.
        rule: ``max`` when more is better, ``min`` when less is.
        patience: Checks without improvement to accept.
        min_delta: Subtracted from the metric before it is compared with the best, in the metric's unit: with rule
            ``max`` the least gain that counts; with rule ``min`` give it a negative sign for the same.
        check_finite: End the run when the metric is NaN or infinite.
        by_epoch: Check after epochs (True) or iterations (False).
        interval: Epochs or iterations between checks.
        early_stop_strategy: ``by_epoch``, ``by_step`` or ``no``; wins over ``by_epoch``.
    """

    PRIORITY = Priority.VERY_LOW

    def __init__(
        self,
        metric_key: str,
        rule: str = "max",
        patience: int = 3,
        min_delta: float = 0.0,
        check_finite: bool = True,
        by_epoch: bool = True,
        interval: int = 1,
        early_stop_strategy: str | None = None,
    ) -> None:
        self.metric_key = metric_key
        self.rule = check_rule(rule)
        self.patience = patience
        self.min_delta = min_delta
        self.check_finite = check_finite
        self.by_epoch = by_epoch_of("early_stop_strategy", early_stop_strategy, by_epoch)
        self.interval = interval
        self.wait_count = 0  # checks in a row without improvement
        self.best_score = -math.inf if rule == "max" else math.inf

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Warn of a ``min_delta`` that does the opposite of what its name says."""
        if self.rule == "min" and self.min_delta > 0:
            trainer.logger.warning(
                "EarlyStopHook: with rule min a positive min_delta (%s) lets worse values count as "
                "improvements, as under ModelScope; write %s to ask for at least that gain",
                self.min_delta,
                -self.min_delta,
            )

    def after_train_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Check when counting in epochs and a check is due."""
        if self.by_epoch and self.every_n_epochs(trainer, self.interval):
            self.check(trainer)

    def after_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Check when counting in iterations and a check is due."""
        if self.by_epoch is False and self.every_n_iters(trainer, self.interval):
            self.check(trainer)

    def check(self, trainer: EpochBasedTrainer) -> None:
        """Compare the newest value with the best and ask the run to end when patience is used up.

        Raises:
            MissingEntryError: The evaluation has no value named ``metric_key``.
        """
        newest = newest_value(self, self.metric_key, trainer)
        if newest is None:
            return
        value = float(newest)
        if self.check_finite and not math.isfinite(value):
            self.stop(trainer, f"{self.metric_key} is {value}")
        elif self.improves(value):
            self.best_score, self.wait_count = value, 0
        else:
            self.wait_count += 1
            if self.wait_count >= self.patience:
                self.stop(
                    trainer,
                    f"{self.metric_key} has not improved on {self.best_score} in {self.wait_count} checks",
                )

    def improves(self, value: float) -> bool:
        """Whether a value counts as better than the best.

        ``min_delta`` is subtracted under either rule, as ModelScope does (measured): with rule ``min`` a positive one
        loosens the test.
        """
        if self.rule == "max":
            return value - self.min_delta > self.best_score
        return value - self.min_delta < self.best_score

    def stop(self, trainer: EpochBasedTrainer, reason: str) -> None:
        """Ask the run to end after this epoch."""
        trainer.logger.info("Early stop: %s", reason)
        trainer._stop_training = True

    def state_dict(self) -> dict[str, Any]:
        """Best value and checks without improvement."""
        return {"wait_count": self.wait_count, "best_score": self.best_score}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on counting where the run that is resumed stopped."""
        self.wait_count = state_dict.get("wait_count", self.wait_count)
        self.best_score = state_dict.get("best_score", self.best_score)
