"""RunCheckpointHook: checkpoint_<epoch>.pth and checkpoint_best.pth."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.checkpoint.flush import Flusher
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority

if TYPE_CHECKING:
    from adapter.runner.trainer import RunTrainer


class RunCheckpointHook(Hook):
    """Saves every so many epochs and after the last one, and whenever ``agg_metrics`` is the best so far.

    Args:
        interval: Epochs between checkpoints; the first one is after epoch 0.
        save_dir: Folder of the files; the trainer's work_dir by default.

    Attributes:
        best_metric: Best ``agg_metrics`` so far; minus infinity before the first.
        best_epoch: The epoch it is of, from 0.
        best_values: All that its evaluation came to.
    """

    PRIORITY = Priority.LOW
    RANK = -20

    def __init__(self, interval: int = 1, save_dir: str | None = None) -> None:
        self.interval = interval
        self.save_dir = save_dir
        self.best_metric = -math.inf
        self.best_epoch = 0
        self.best_values: dict[str, Any] = {}
        self.flusher = Flusher()

    def before_run(self, trainer: RunTrainer) -> None:
        """Settle the folder."""
        self.save_dir = self.save_dir or trainer.work_dir

    def after_train_epoch(self, trainer: RunTrainer) -> None:
        """Save what is due; the files hold the state at the end of the stage, so that a resumed run repeats nothing."""
        if self.is_best(trainer):
            trainer.at_stage_end(lambda: self.save(trainer, "checkpoint_best"))
        if trainer.epoch % self.interval == 0 or self.is_last_epoch(trainer):
            name = f"checkpoint_{trainer.epoch}"
            trainer.at_stage_end(lambda: self.save(trainer, name))

    def after_run(self, trainer: RunTrainer) -> None:
        """Wait until everything is on the disk."""
        self.flusher.wait()

    def is_best(self, trainer: RunTrainer) -> bool:
        """Whether this epoch's evaluation is the best so far, which is kept."""
        value = trainer.agg_metrics
        if value is None or not value > self.best_metric:
            return False
        self.best_metric, self.best_epoch, self.best_values = value, trainer.epoch, dict(trainer.main_values)
        return True

    def save(self, trainer: RunTrainer, name: str) -> None:
        """Save the run as it is now."""
        from adapter.runner.checkpoint_file import save

        path = Path(self.save_dir or "", f"{name}.pth")
        trainer.logger.info("Saving checkpoint of epoch %d to %s", trainer.epoch, path)
        save(trainer, path)
        self.flusher.add([path])

    def state_dict(self) -> dict[str, Any]:
        """The best value so far, its epoch, and what else that evaluation came to."""
        return {"best_metric": self.best_metric, "best_epoch": self.best_epoch, "best_values": self.best_values}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the best value of the run that is resumed."""
        self.best_metric, self.best_epoch = state_dict["best_metric"], state_dict["best_epoch"]
        self.best_values = state_dict.get("best_values", {})
