"""The progress bar: Lightning's, showing the values of the last log line."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import lightning as L
from lightning.pytorch.callbacks import TQDMProgressBar
from lightning.pytorch.callbacks.progress.tqdm_progress import Tqdm, convert_inf

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


class ProgressBar(TQDMProgressBar):
    """One bar an epoch; log lines are printed above it.

    Args:
        owner: The trainer whose last log line is shown.
    """

    def __init__(self, owner: EpochBasedTrainer) -> None:
        super().__init__()
        self._drawn = 0.0
        self.owner = owner

    def on_train_epoch_start(self, trainer: L.Trainer, *args: Any) -> None:
        """Start the epoch's bar; epochs count from 1, as in the log lines, where Lightning's own count from 0."""
        self.train_progress_bar.reset()
        self.train_progress_bar.total = convert_inf(self.total_train_batches)
        self.train_progress_bar.initial = 0
        self.train_progress_bar.set_description(f"Epoch {trainer.current_epoch + 1}")

    def init_validation_tqdm(self) -> Tqdm:
        """No second bar: an evaluation is announced by its log line."""
        return Tqdm(disable=True)

    def _should_update(self, current: int, total: int | float) -> bool:
        """Draw ten times a second, however long an iteration takes."""
        now = time.monotonic()
        due = self.is_enabled and (now - self._drawn >= 0.1 or current == total)
        if due:
            self._drawn = now
        return due

    def get_metrics(self, trainer: L.Trainer, pl_module: L.LightningModule) -> dict[str, Any]:
        """Lightning's own entries and the losses of the last log line."""
        metrics = {**super().get_metrics(trainer, pl_module), **self.owner.last_losses}
        metrics.pop("v_num", None)
        return metrics
