"""LeanTrainer: lightning.Trainer without bookkeeping that nobody here uses, most of it done in every iteration."""

from __future__ import annotations

from typing import Any

import lightning as L
from lightning.pytorch.trainer.connectors.logger_connector import _LoggerConnector
from lightning.pytorch.trainer.states import RunningStage


def _in_stage(stage: RunningStage, original: Any) -> Any:
    """A property that compares stages by identity; setting it stays Lightning's ``original``."""
    return property(lambda trainer: trainer.state.stage is stage, original.fset, doc=original.__doc__)


class LeanTrainer(L.Trainer):
    """Does what ``lightning.Trainer`` does.

    Lightning asks for its stage some fifteen times an iteration. Its stages are strings that fold their case at each
    comparison; there is one object a stage, so identity says the same.
    """

    training = _in_stage(RunningStage.TRAINING, L.Trainer.training)
    validating = _in_stage(RunningStage.VALIDATING, L.Trainer.validating)
    testing = _in_stage(RunningStage.TESTING, L.Trainer.testing)
    predicting = _in_stage(RunningStage.PREDICTING, L.Trainer.predicting)
    sanity_checking = _in_stage(RunningStage.SANITY_CHECKING, L.Trainer.sanity_checking)

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._slim()

    @classmethod
    def adopt(cls, trainer: L.Trainer) -> None:
        """Make a trainer that somebody else has made one of these, in place; what its own class adds stays."""
        if not isinstance(trainer, cls):
            own = type(trainer)
            trainer.__class__ = cls if own is L.Trainer else type(own.__name__, (cls, own), {})
            cls._slim(trainer)  # type: ignore[arg-type]  # it is one now

    def _slim(self) -> None:
        self._logger_connector.__class__ = LeanLoggerConnector
        # waits for the device in every iteration to learn of a signal; Interrupts asks between the CPUs
        self.fit_loop.epoch_loop._broadcast_sigterm_tensor = lambda: None  # type: ignore[method-assign]

    @property
    def enable_validation(self) -> bool:
        """False: EvaluationHook runs the validation loop, at its place among the hooks, and Lightning never does."""
        return False


class LeanLoggerConnector(_LoggerConnector):
    """Collects what ``self.log`` was given, but only when it was given something."""

    def on_batch_end(self) -> None:
        """After each iteration."""
        if self.trainer._results:
            super().on_batch_end()

    def update_train_step_metrics(self) -> None:
        """After each training iteration."""
        if self.trainer._results:
            super().update_train_step_metrics()

    def update_eval_step_metrics(self, step: int) -> None:
        """After each evaluation iteration."""
        if self.trainer._results:
            super().update_eval_step_metrics(step)
