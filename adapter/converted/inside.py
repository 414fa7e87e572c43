"""Begin a run of ours in one that a Lightning trainer of somebody else's has begun."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import lightning as L
from lightning.pytorch.callbacks import RichProgressBar, TQDMProgressBar
from lightning.pytorch.cli import SaveConfigCallback
from lightning.pytorch.profilers import PassThroughProfiler
from lightning.pytorch.trainer.states import TrainerFn

from adapter.converted.data import ConfigData
from adapter.converted.hook import ConfigHook
from adapter.converted.model import ConfigModel
from adapter.converted.trainers import InsideLightning, InsideRun
from adapter.errors import ConfigError, Problem
from adapter.lightning import engine
from adapter.lightning.arguments import as_list, refuse_decided_elsewhere
from adapter.lightning.hook_callback import HookCallback
from adapter.lightning.launch import Started, environment, started
from adapter.lightning.lean_trainer import LeanTrainer
from adapter.lightning.progress import ProgressBar
from adapter.lightning.quiet import quiet
from adapter.pipeline import checkpoint_given_by
from adapter.predictions import data_to_predict, written
from adapter.trainer import EpochBasedTrainer
from adapter.user_code import import_user_code

PREDICTIONS = "predictions.jsonl"
LIGHTNINGS_BARS = (TQDMProgressBar, RichProgressBar)
# What a Trainer has of the arguments that are decided elsewhere -> Lightning's default.
DEFAULTS = {
    "accumulate_grad_batches": 1,
    "gradient_clip_val": None,
    "val_check_interval": 1.0,
    "check_val_every_n_epoch": 1,
}


class EndingHookCallback(HookCallback):
    """Runs the hooks, and leaves what surrounds Lightning's loop when the loop has ended, however it has.

    A test or a prediction has the stages of an evaluation, as it has outside of Lightning.
    """

    on_test_start = on_predict_start = HookCallback.on_validation_start
    on_test_epoch_start = on_predict_epoch_start = HookCallback.on_validation_epoch_start
    on_test_epoch_end = on_predict_epoch_end = HookCallback.on_validation_epoch_end
    on_test_end = on_predict_end = HookCallback.on_validation_end

    def teardown(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        """The run has come to its end."""
        cast(ConfigModel, pl_module).end()

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        """It has not."""
        cast(ConfigModel, pl_module).end(exception)


def begin(module: ConfigModel, outer: L.Trainer) -> None:
    """Make the run of a Trainer that is about to train, to evaluate or to predict.

    Raises:
        ConfigError: The config cannot be run as written.
        FileNotFoundError: No such checkpoint.
    """
    data = getattr(outer, "datamodule", None)
    if not isinstance(data, ConfigData):
        raise ConfigError(Problem("data", f"found {type(data).__name__}", "adapter.converted.ConfigData"))
    refuse_decided_elsewhere(
        {name: getattr(outer, name) for name, usual in DEFAULTS.items() if getattr(outer, name) != usual}
    )
    if module.owner is None:
        import_user_code(module.imports)
        join_processes(outer)
        inside = InsideRun if "run" in module.sections else InsideLightning
        inside(module, data, outer)
    owner = data.owner = module.owner
    with contextlib.ExitStack() as around:
        around.enter_context(quiet())
        take_over(owner, outer, around)
        surround(owner, outer, module.checkpoint, around)
        module.around = around.pop_all()


def surround(owner: EpochBasedTrainer, outer: L.Trainer, checkpoint: str | None, around: contextlib.ExitStack) -> None:
    """Do what a run of this kind does before its loop, and leave to ``around`` what it does after it.

    Raises:
        ConfigError: A kind of run that a config does not describe.
    """
    kind = outer.state.fn
    if kind == TrainerFn.FITTING:
        try:
            around.enter_context(owner.training(checkpoint, trainer=outer))
        except FileNotFoundError as error:  # the data are there: they have been read
            raise ConfigError(Problem("--ckpt_path", str(error))) from error
        return
    if kind == TrainerFn.TESTING and not isinstance(owner, InsideRun):
        raise ConfigError(Problem("test", "a config without a run: section describes no test data", fix="use validate"))
    if checkpoint is not None:
        with checkpoint_given_by("--ckpt_path", checkpoint):
            owner.load_checkpoint(checkpoint, strict=True)
    if kind == TrainerFn.PREDICTING:
        around.enter_context(predicting(owner))
    elif isinstance(owner, InsideRun) and kind == TrainerFn.TESTING:
        around.enter_context(owner.testing())
    else:
        around.enter_context(owner.evaluating())


@contextlib.contextmanager
def predicting(owner: EpochBasedTrainer) -> Iterator[None]:
    """What surrounds Lightning's prediction loop; the file in the work directory is that of ``adapter predict``."""
    dataset, path = data_to_predict(owner), Path(owner.work_dir, PREDICTIONS)
    with written(owner, path) as predictions, owner.predicting(dataset, predictions.add):
        yield
    owner.logger.info("%d samples in %s", predictions.count, path)


def join_processes(outer: Any) -> None:
    """Tell of processes that Lightning has started as torchrun would have told."""
    if outer.world_size > 1 and started() is None:
        cluster = outer.strategy.cluster_environment  # which strategies of several processes have
        os.environ.update(MASTER_ADDR=cluster.main_address, MASTER_PORT=str(cluster.main_port))
        environment(Started(outer.global_rank, outer.world_size, outer.local_rank, outer.num_devices))


def take_over(owner: EpochBasedTrainer, outer: Any, around: contextlib.ExitStack) -> None:
    """Give a Trainer the strategy, the precision and the callbacks that the trainer's own Lightning trainer has.

    Args:
        owner: Our trainer.
        outer: The Lightning trainer, whose attributes are not all declared.
        around: Undoes it.
    """
    callbacks: list[L.Callback] = outer.callbacks
    bars = [each for each in callbacks if type(each) in LIGHTNINGS_BARS]
    bar = [ProgressBar(owner)] if bars and sys.stderr is not None and sys.stderr.isatty() else []
    for each in callbacks:
        if isinstance(each, SaveConfigCallback):
            each.overwrite = True  # a work directory may be used again
    others = [each for each in callbacks if each not in bars and not isinstance(each, ConfigHook)]
    others += as_list(owner.trainer_args.get("callbacks"))  # Lightning's, that a run: config has among its hooks
    around.callback(setattr, outer, "callbacks", callbacks)
    outer.callbacks = [EndingHookCallback(owner), *others, *bar]
    LeanTrainer.adopt(outer)
    ours: Any = engine.build_trainer(owner)
    if type(outer.profiler) is PassThroughProfiler:
        outer.profiler = ours.profiler
    outer._accelerator_connector = ours._accelerator_connector
    outer.strategy.connect(owner.module)
