"""LoggerHook: when a log line is due, and what the loggers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


class LoggerHook(Hook):
    """Base of the hooks that write log lines.

    A line is due every ``interval`` iterations and whenever another hook, such as EvaluationHook, made the log
    buffer ready. All loggers see a line; the last of them in run order empties the buffer.

    Args:
        interval: Iterations between lines.
        ignore_last: Write no line for the iterations left over at the end of an epoch.
        by_epoch: Count the interval within the epoch (True) or over the whole run (False).
    """

    PRIORITY = Priority.VERY_LOW

    def __init__(self, interval: int = 10, ignore_last: bool = True, by_epoch: bool = True) -> None:
        self.interval = interval
        self.ignore_last = ignore_last
        self.by_epoch = by_epoch
        self.empties_buffer = False

    def log(self, trainer: EpochBasedTrainer) -> None:
        """Write ``trainer.log_buffer.output``."""
        raise NotImplementedError(f"{type(self).__name__} must define log(trainer)")

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Find out which logger is the last."""
        loggers = [hook for hook in trainer.hooks if isinstance(hook, LoggerHook)]
        for hook in loggers:
            hook.empties_buffer = hook is loggers[-1]

    def before_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Forget the epoch before."""
        trainer.log_buffer.clear()

    def after_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Average and write when a line is due."""
        every_n = self.every_n_inner_iters if self.by_epoch else self.every_n_iters
        if every_n(trainer, self.interval) or (not self.ignore_last and self.end_of_epoch(trainer)):
            trainer.log_buffer.average(self.interval)
        self.log_when_ready(trainer)

    def after_train_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Write what an evaluation at the epoch's end left."""
        self.log_when_ready(trainer)

    def log_when_ready(self, trainer: EpochBasedTrainer) -> None:
        """Write the line if there is one, and leave its losses to the progress bar."""
        buffer = trainer.log_buffer
        if buffer.ready:
            self.log(trainer)
            trainer.last_losses = {name: value for name, value in buffer.output.items() if "loss" in name}
            if self.empties_buffer:
                buffer.clear_output()


def is_number(value: Any) -> bool:
    """Whether a value of a log line is one number."""
    if isinstance(value, bool):
        return False
    return isinstance(value, (int, float)) or (hasattr(value, "numel") and value.numel() == 1)
