"""HookCallback: the one Lightning callback that runs the hooks, in priority order, around Lightning's loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightning as L

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

# Hook stage -> the Lightning method it runs in.
STAGE_METHODS: dict[str, str] = {
    "before_run": "on_train_start",
    "before_train_epoch": "on_train_epoch_start",
    "before_train_iter": "training_step",
    "after_train_iter": "on_train_batch_end",  # those up to OptimizerHook's priority: training_step
    "after_train_epoch": "on_train_epoch_end",
    "before_val": "on_validation_start",
    "before_val_epoch": "on_validation_epoch_start",
    "before_val_iter": "validation_step",
    "after_val_iter": "validation_step",
    "after_val_epoch": "on_validation_epoch_end",
    "after_val": "on_validation_end",
    "after_run": "on_train_end",
}


class HookCallback(L.Callback):
    """Runs the hooks of each stage and advances the trainer's counters.

    Args:
        owner: The trainer the hooks belong to.
    """

    def __init__(self, owner: EpochBasedTrainer) -> None:
        self.owner = owner

    on_train_batch_start = None  # type: ignore[assignment]  # not callable: Lightning passes over it

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Stage before_run, in which a checkpoint may be loaded; Lightning begins at the epoch it leaves."""
        self.owner.begin_run()
        progress = trainer.fit_loop.epoch_progress
        for counts in (progress.total, progress.current):
            for step in ("ready", "started", "processed", "completed"):
                setattr(counts, step, self.owner.epoch)
        if self.owner.stop_requested and self.owner.inner_iter == 0:
            trainer.should_stop = True  # the run that is resumed had been stopped

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Stage before_train_epoch."""
        self.owner.module.exhausted = False
        self.owner.begin_epoch()

    def on_train_batch_end(
        self, trainer: L.Trainer, pl_module: L.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """The rest of stage after_train_iter; then the iteration is counted."""
        owner = self.owner
        if owner.module.exhausted:
            return
        owner.hooks.run_after_update("after_train_iter", owner)
        owner.end_iter()

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Stage after_train_epoch; then the epoch is counted, and the run ends here if a hook asked for it."""
        self.owner.end_epoch()
        if self.owner.stop_requested:
            trainer.should_stop = True

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Stage after_run."""
        self.owner.invoke_hook("after_run")

    def on_validation_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Stage before_val."""
        self.owner.invoke_hook("before_val")

    def on_validation_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Stage before_val_epoch."""
        self.owner.invoke_hook("before_val_epoch")

    def on_validation_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Stage after_val_epoch."""
        self.owner.invoke_hook("after_val_epoch")

    def on_validation_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Stage after_val."""
        self.owner.invoke_hook("after_val")
