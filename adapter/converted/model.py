"""ConfigModel: the model of the config, as the ``model`` of a Lightning CLI file; it makes the run a Trainer trains."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Union, cast

import lightning as L
from jsonargparse.typing import path_type
from lightning.pytorch.trainer.states import TrainerFn
from torch import nn

from adapter.converted.text import unmarked
from adapter.lightning.hook_callback import HookCallback
from adapter.lightning.module import TrainingModule

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


# jsonargparse reads it: where a file of that name is, seen from the file that this stands in, it is meant
Code: Any = Union[path_type("fr"), str]  # noqa: UP007  a type that is made here has no |


class ConfigModel(TrainingModule):
    """Runs the hooks and the documented training step in the loop of any ``lightning.Trainer``.

    The hooks are the :class:`ConfigHook` entries of its callbacks, the data those of its :class:`ConfigData`. Epochs,
    limits of batches, devices, precision and the folder that is written to (``default_root_dir``) are the Trainer's.

    Args:
        model: Section ``model``: ``{type, ...}``.
        optimizer: Section ``train.optimizer``, less the ``options``, which are the arguments of OptimizerHook.
        lr_scheduler: Section ``train.lr_scheduler``, less the ``options``, which are those of LrSchedulerHook.
        metrics: ``evaluation.metrics``.
        task: Name of the task, which has a default metric.
        train: What else section ``train`` says.
        evaluation: What else section ``evaluation`` says.
        other: Other sections of the config.
        run: Section ``run`` of a config that has one; it has none of ``optimizer`` to ``evaluation``.
        imports: Modules or Python files that register the user's own classes; in a file, files are as seen from its
            folder.
        trust_remote_code: Allow code that the config names: ``plugins``, ``custom_imports``.
        checkpoint: Where to begin: a pair to go on from, when a run trains; the weights to use, when it does not.
    """

    def __init__(
        self,
        model: dict[str, Any] | None = None,
        optimizer: dict[str, Any] | None = None,
        lr_scheduler: dict[str, Any] | None = None,
        metrics: Any = None,
        task: str | None = None,
        train: dict[str, Any] | None = None,
        evaluation: dict[str, Any] | None = None,
        other: dict[str, Any] | None = None,
        run: dict[str, Any] | None = None,
        imports: list[Code] | None = None,
        trust_remote_code: bool = False,
        checkpoint: str | None = None,
    ) -> None:
        super().__init__(cast("EpochBasedTrainer", None), nn.Identity())  # both are made when a run begins
        sections = {
            "model": model,
            "optimizer": optimizer,
            "lr_scheduler": lr_scheduler,
            "train": train,
            "evaluation": evaluation,
            "other": other,
            "run": run,
        }
        self.sections = {
            **{name: unmarked(values) for name, values in sections.items() if values is not None},
            **{name: value for name, value in (("task", task), ("metrics", metrics)) if value is not None},
        }
        self.imports = [os.fspath(each) for each in imports or ()]
        self.trust_remote_code = trust_remote_code
        self.checkpoint = checkpoint
        self.around: contextlib.ExitStack | None = None  # what surrounds Lightning's loop while it runs

    def configure_callbacks(self) -> list[L.Callback]:
        """Make the run for the Trainer that is about to begin; Lightning calls this first of all.

        Raises:
            ConfigError: The config cannot be run as written; nothing has been written to disk.
            FileNotFoundError: No such checkpoint.
        """
        trainer: Any = self.trainer
        if not any(isinstance(callback, HookCallback) for callback in trainer.callbacks):
            from adapter.converted.inside import begin

            begin(self, trainer)
        return []

    def test_step(self, dataloader_iter: Iterator[Any]) -> None:
        """One iteration of the evaluation of a test split."""
        self.evaluate(next(dataloader_iter)[0])

    def predict_step(self, batch: Any, batch_idx: int) -> Any:
        """The model's outputs for a batch of the evaluation data."""
        return self.evaluate(batch)

    def on_validation_epoch_end(self) -> None:
        """Log the values of an evaluation that Lightning was asked for; those within training are for the hooks."""
        if self.trainer.state.fn in (TrainerFn.VALIDATING, TrainerFn.TESTING) and self.around is not None:
            self.end()
            values = self.owner.metric_values or {}
            self.log_dict({name: value for name, value in values.items() if isinstance(value, (int, float))})

    on_test_epoch_end = on_validation_epoch_end

    def end(self, error: BaseException | None = None) -> None:
        """Leave what surrounds Lightning's loop, once."""
        around, self.around = self.around, None
        if around is not None:
            around.__exit__(type(error) if error else None, error, error.__traceback__ if error else None)
