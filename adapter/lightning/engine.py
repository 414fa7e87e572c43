"""The lightning.Trainer of a run: its arguments, its console, and evaluation in the middle of training."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import lightning as L

from adapter.lightning.arguments import as_list, lightning_arguments, refusals_named
from adapter.lightning.datamodule import DataModule
from adapter.lightning.hook_callback import HookCallback
from adapter.lightning.launch import start, started, together
from adapter.lightning.lean_trainer import LeanTrainer
from adapter.lightning.precision import settle_precision
from adapter.lightning.progress import ProgressBar
from adapter.lightning.quiet import quiet
from adapter.processes import Processes

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


def build_trainer(owner: EpochBasedTrainer) -> L.Trainer:
    """The Lightning trainer for a plan.

    What the hooks do (checkpoints, log lines, evaluation) is switched off in Lightning. ``owner.trainer_args`` are
    the user's own arguments for it, and win.

    Raises:
        ConfigError: Arguments that Lightning refuses, or that ask for what this version does not have.
    """
    arguments = {**lightning_arguments(owner), "strategy": owner.strategy.make(owner)}
    arguments["precision"] = owner.trainer_args.get("precision") or owner.strategy.precision(owner)
    callbacks = [HookCallback(owner), *as_list(arguments.pop("callbacks", None))]
    if arguments["enable_progress_bar"]:
        callbacks.append(ProgressBar(owner))
    with refusals_named(owner), quiet():
        trainer = LeanTrainer(callbacks=callbacks, **arguments)
        settle_precision(trainer, owner.plan, owner.trainer_args.get("precision"))
    return trainer


def connect(owner: EpochBasedTrainer, first: L.Trainer) -> None:
    """Start the other processes, unless a launcher has, and connect to them.

    Args:
        owner: The trainer, as good as built: nothing is left that could be refused.
        first: A Lightning trainer made before any process was started here.
    """
    children = start(first.num_devices, first.num_nodes) if started() is None else []
    trainer = build_trainer(owner) if children else first
    with quiet(), together(children):
        trainer.strategy.setup_environment()
    owner.processes = Processes(trainer.global_rank, trainer.world_size, children)
    owner.processes.connect()
    owner.processes.share, owner.processes.shares = owner.strategy.shares(trainer)
    owner.parallel_groups = owner.strategy.groups(trainer)


def fit(owner: EpochBasedTrainer, trainer: L.Trainer) -> None:
    """Train. Ctrl-C and SystemExit pass through as themselves."""
    with quiet(), interrupts_kept():
        trainer.fit(owner.module, datamodule=DataModule(owner))


def validate(owner: EpochBasedTrainer, trainer: L.Trainer) -> None:
    """Run data through the model: inside a running fit where there is one, else on its own.

    Args:
        owner: Its ``eval_dataloader`` holds the data. With ``all_data`` they are not the evaluation data: all of them
            are used, and Lightning is to keep no hold of them.
        trainer: The running fit's Lightning trainer, or a new one.
    """
    limit = trainer.limit_val_batches
    loop = trainer.fit_loop.epoch_loop.val_loop
    if owner.all_data:
        trainer.limit_val_batches, loop._combined_loader = 1.0, None
    try:
        if trainer.training:
            validate_within_fit(trainer)
        else:
            with quiet(), interrupts_kept():
                trainer.validate(owner.module, datamodule=DataModule(owner), verbose=False)
    finally:
        if owner.all_data:
            trainer.limit_val_batches, loop._combined_loader = limit, None


def validate_within_fit(trainer: L.Trainer) -> None:
    """Run Lightning's validation loop at this point of the training loop.

    Lightning's own trigger would zero the gradients accumulated so far. Its logger connector keeps one flag of the
    training loop that has to be put back, as Lightning does around its own.
    """
    connector = trainer._logger_connector
    first_iter = connector._first_loop_iter
    trainer.validating = True
    try:
        trainer.fit_loop.epoch_loop.val_loop.run()
    finally:
        trainer.training = True
        connector._first_loop_iter = first_iter


@contextlib.contextmanager
def interrupts_kept() -> Iterator[None]:
    """Give the caller back the KeyboardInterrupt that Lightning turns into ``exit(1)``; a SystemExit stays one."""
    try:
        yield
    except SystemExit as stop:
        if stop.code == 1 and isinstance(stop.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from stop
        raise
