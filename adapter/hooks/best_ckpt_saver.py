"""BestCkptSaverHook: keep the checkpoints with the best value of a metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.hooks.checkpoint import CheckpointHook
from adapter.hooks.following import check_rule, newest_value
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@HOOKS.register_module()
class BestCkptSaverHook(CheckpointHook):
    """Saves ``best_epochN_<metric><value>`` or ``best_iterN_...`` whenever an evaluation is the best so far.

    It follows the evaluations: an ``interval`` or ``by_epoch`` of its own is accepted and has no effect.

    Args:
        metric_key: Name of the metric in the evaluation's values.
        save_best: Save when the metric improves.
        rule: ``max`` when more is better, ``min`` when less is.
        save_file_name: Name of the file, in place of the one made from epoch and value.
        restore_best: Load the best weights back into the model when training ends.
        max_checkpoint_num: Best pairs to keep.
        kwargs: The other arguments of CheckpointHook.
    """

    RANK = -30
    OUTPUT_SUB_DIR = "output_best"

    def __init__(
        self,
        metric_key: str,
        save_best: bool = True,
        rule: str = "max",
        save_file_name: str | None = None,
        restore_best: bool = False,
        max_checkpoint_num: int | None = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(max_checkpoint_num=max_checkpoint_num, **kwargs)
        self.metric_key = metric_key
        self.save_best = save_best
        self.rule = check_rule(rule)
        self.save_file_name = save_file_name
        self.restore_best = restore_best
        self.best_metric: float | None = None

    def after_train_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Look at an evaluation made at this epoch's end."""
        self.follow(trainer, f"epoch{trainer.epoch + 1}")

    def after_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Look at an evaluation made in this iteration."""
        if trainer.metric_values is not None:  # no name is made in every iteration of a run without evaluations
            self.follow(trainer, f"iter{trainer.iter + 1}")

    def follow(self, trainer: EpochBasedTrainer, when: str) -> None:
        """Save if the newest evaluation is better than the best so far.

        Raises:
            MissingEntryError: The evaluation has no value named ``metric_key``.
        """
        value = newest_value(self, self.metric_key, trainer)
        if value is None:
            return
        if self.save_best and (self.best_metric is None or self.improves(value)):
            self.best_metric = value
            trainer.logger.info("Saving the best checkpoint: %s %s at %s", self.metric_key, value, when)
            self.save(trainer, self.file_name(when, value))

    def improves(self, value: float) -> bool:
        """Whether a value is better than the best so far."""
        assert self.best_metric is not None
        return value > self.best_metric if self.rule == "max" else value < self.best_metric

    def file_name(self, when: str, value: float) -> str:
        """Name of the pair, without suffix."""
        if self.save_file_name:
            return self.save_file_name.removesuffix(".pth")
        return f"best_{when}_{self.metric_key}{value}"

    def after_run(self, trainer: EpochBasedTrainer) -> None:
        """Load the best weights, when asked to."""
        super().after_run(trainer)
        if not self.restore_best or not self.history:
            return
        from adapter.checkpoint.files import load

        trainer.processes.wait()  # the main one has written them
        path = self._newest(trainer)
        if path is None:
            trainer.logger.warning("the best weights, %s, are gone: the model keeps its last ones", self.history[-1])
            return
        trainer.logger.info("Loading the best weights, of %s", path.stem)
        trainer.load_weights(load(path), strict=True)

    def _newest(self, trainer: EpochBasedTrainer) -> Path | None:
        """The newest best weights: this run's, or those of the run it goes on with, in that run's folder."""
        folders = [self.folder, *([trainer.resumed_pair.parent] if trainer.resumed_pair else [])]
        paths = [folder / f"{self.history[-1]}.pth" for folder in folders]
        return next((path for path in paths if path.is_file()), None)

    def state_dict(self) -> dict[str, Any]:
        """The best value so far, and the pairs on disk."""
        return {**super().state_dict(), "best_metric": self.best_metric}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the best value and the pairs of the run that is resumed."""
        super().load_state_dict(state_dict)
        self.best_metric = state_dict.get("best_metric")
