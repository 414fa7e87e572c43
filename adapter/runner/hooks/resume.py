"""RunResumeHook: go on with the run that wrote a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adapter.checkpoint import files
from adapter.checkpoint.resume import restore
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.runner import checkpoint_file

if TYPE_CHECKING:
    from adapter.runner.trainer import RunTrainer

BEST = "checkpoint_best.pth"


class RunResumeHook(Hook):
    """Loads a checkpoint when training begins.

    Args:
        path: A checkpoint of this package, from anywhere in a run, or of the source project, from an epoch's end.
        load_all_state: False takes the weights only.
    """

    PRIORITY = Priority.HIGH

    def __init__(self, path: Path, load_all_state: bool = True) -> None:
        self.path: Path | None = path
        self.load_all_state = load_all_state

    def before_run(self, trainer: RunTrainer) -> None:
        """Load it, once; a best checkpoint beside it goes along.

        Raises:
            ValueError: A checkpoint that cannot be loaded, or does not fit.
        """
        path, self.path = self.path, None
        if path is None:
            return
        saved = checkpoint_file.load(path)
        checkpoint_file.load_trained(trainer, saved["model"], path)
        if not self.load_all_state:
            trainer.logger.info("Training starts with the weights of %s", path)
            return
        own = saved.get("adapter")
        meta = own or self.meta_of_source(trainer, saved)
        restore(trainer, {"meta": meta, "optimizer": saved["optimizer"]}, path)
        trainer.resumed_from = own
        best = path.with_name(BEST)
        if trainer.is_main_process and best.is_file() and trainer.best_epoch is not None:
            files.link_or_copy(best, Path(trainer.work_dir, BEST))
            files.link_shards(best.with_suffix(""), Path(trainer.work_dir))
        trainer.logger.info("Training goes on from %s: epoch %d, iteration %d", path, trainer.epoch, trainer.iter)

    @staticmethod
    def meta_of_source(trainer: RunTrainer, saved: dict[str, object]) -> dict[str, object]:
        """Where a file of the source project, saved at an epoch's end, goes on; it knows no more than that."""
        epoch = int(str(saved["epoch"])) + 1
        known = {"hooks": {}, "metric_values": None, "stop": False, "loss_scale": saved.get("scaler") or {}}
        return {"epoch": epoch, "iter": epoch * trainer.iters_per_epoch, "inner_iter": 0, "adapter": known}
