"""IterTimerHook: how long an iteration took, and how long it waited for its data."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@HOOKS.register_module()
class IterTimerHook(Hook):
    """Logs ``data_load_time`` and ``iter_time``, in seconds an iteration."""

    PRIORITY = Priority.LOW
    RANK = -10

    def __init__(self) -> None:
        self._last = 0.0

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Start the clock of a run that begins within an epoch."""
        self._last = time.perf_counter()

    def before_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Start the clock."""
        self._last = time.perf_counter()

    def before_iter(self, trainer: EpochBasedTrainer) -> None:
        """Log the wait for the batch."""
        trainer.log_buffer.update({"data_load_time": time.perf_counter() - self._last})

    def after_iter(self, trainer: EpochBasedTrainer) -> None:
        """Log the whole iteration and start the next one."""
        now = time.perf_counter()
        trainer.log_buffer.update({"iter_time": now - self._last})
        self._last = now
