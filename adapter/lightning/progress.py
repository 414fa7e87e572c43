"""The progress bar: Lightning's, showing the values of the last log line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightning as L
from lightning.pytorch.callbacks import TQDMProgressBar

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


class ProgressBar(TQDMProgressBar):
    """One bar an epoch; log lines are printed above it.

    Args:
        owner: The trainer whose last log line is shown.
    """

    def __init__(self, owner: EpochBasedTrainer) -> None:
        super().__init__(refresh_rate=10)
        self.owner = owner

    def get_metrics(self, trainer: L.Trainer, pl_module: L.LightningModule) -> dict[str, Any]:
        """Lightning's own entries and the losses of the last log line."""
        metrics = {**super().get_metrics(trainer, pl_module), **self.owner.last_losses}
        metrics.pop("v_num", None)
        return metrics
