"""The lightning.Trainer of a run: its arguments, its console, and evaluation in the middle of training."""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import lightning as L
from lightning.pytorch.profilers import PassThroughProfiler
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from adapter.errors import ConfigError, Problem
from adapter.lightning.datamodule import DataModule
from adapter.lightning.hook_callback import HookCallback
from adapter.lightning.lean_trainer import LeanTrainer
from adapter.lightning.precision import settle_precision
from adapter.lightning.progress import ProgressBar

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

LOGGERS = ("lightning.pytorch", "lightning.fabric", "lightning_utilities")
EXPECTED_WARNINGS = (
    "GPU available but not used",
    "You passed `Trainer\\(accelerator='cpu', precision='16-mixed'\\)`",
    "MPS available but not used",
    "The '.*_dataloader' does not have many workers",
    "Found .* module.s. in eval mode",
    "`LightningModule.configure_optimizers` returned `None`",
    "You called `self.log",
    "You are using the `dataloader_iter` step flavor",
    "Found `dataloader_iter` argument in the `.*_step`",
    ".*isinstance\\(treespec, LeafSpec\\)",
)


# Arguments of lightning.Trainer that would do nothing, or harm, beside the hooks -> what does it instead.
DECIDED_ELSEWHERE = {
    "accumulate_grad_batches": "train.optimizer.options.cumulative_iters",
    "gradient_clip_val": "train.optimizer.options.grad_clip",
    "gradient_clip_algorithm": "train.optimizer.options.grad_clip",
    "val_check_interval": "evaluation.period",
    "check_val_every_n_epoch": "evaluation.period",
    "num_sanity_val_steps": "evaluation.period",
    "barebones": "the default, which leaves out all of Lightning's own output",
}


def build_trainer(owner: EpochBasedTrainer) -> L.Trainer:
    """The Lightning trainer for a plan.

    What the hooks do (checkpoints, log lines, evaluation) is switched off in Lightning. ``owner.trainer_args`` are
    the user's own arguments for it, and win.

    Raises:
        ConfigError: Arguments that Lightning refuses, or that ask for what this version does not have.
    """
    refused = [
        Problem(f"trainer.{name}", "is not Lightning's to decide here", fix=f"use {use}")
        for name, use in DECIDED_ELSEWHERE.items()
        if owner.trainer_args.get(name) is not None
    ]
    if refused:
        raise ConfigError(refused)
    arguments: dict[str, Any] = {
        "accelerator": "auto",
        "devices": 1,
        "logger": False,
        "enable_checkpointing": False,
        "enable_model_summary": False,
        "enable_progress_bar": sys.stderr is not None and sys.stderr.isatty(),
        "num_sanity_val_steps": 0,
        "inference_mode": False,  # what an evaluation leaves in a model may be part of a graph later
        "use_distributed_sampler": False,  # the data loader builder puts its own
        "profiler": SilentProfiler(),
        "precision": owner.plan.precision,
        "strategy": owner.plan.strategy,
        **owner.plan.trainer,
        **device_arguments(owner.requested_device),
        **owner.trainer_args,
    }
    callbacks = [HookCallback(owner), *_as_list(arguments.pop("callbacks", None))]
    if arguments["enable_progress_bar"]:
        callbacks.append(ProgressBar(owner))
    try:
        with quiet():
            trainer = LeanTrainer(callbacks=callbacks, **arguments)
            settle_precision(trainer, owner.plan, owner.trainer_args.get("precision"))
    except (MisconfigurationException, TypeError, ValueError) as error:
        key = "device" if owner.requested_device else "trainer"
        raise ConfigError(Problem(key, f"Lightning's Trainer refuses its arguments: {error}")) from error
    if trainer.world_size > 1:
        fix = "pass --trainer.devices=1 (trainer_args={'devices': 1})"
        raise ConfigError(
            Problem("trainer.devices", f"{trainer.world_size} processes; this version trains in one", fix=fix)
        )
    return trainer


def device_arguments(device: str | None) -> dict[str, Any]:
    """Lightning's accelerator and devices for a torch device name (``cpu``, ``gpu``, ``cuda:1``)."""
    if device is None:
        return {}
    kind, _, index = str(device).partition(":")
    accelerator = "gpu" if kind == "cuda" else kind
    return {"accelerator": accelerator, "devices": [int(index)] if index and accelerator != "cpu" else 1}


def fit(owner: EpochBasedTrainer, trainer: L.Trainer) -> None:
    """Train. Ctrl-C and SystemExit pass through as themselves."""
    with quiet(), interrupts_kept():
        trainer.fit(owner.module, datamodule=DataModule(owner))


def validate(owner: EpochBasedTrainer, trainer: L.Trainer, other_data: bool = False) -> None:
    """Run data through the model: inside a running fit where there is one, else on its own.

    Args:
        owner: Its ``eval_dataloader`` holds the data.
        trainer: The running fit's Lightning trainer, or a new one.
        other_data: They are not the evaluation data: all of them are used, and Lightning is to keep no hold of them.
    """
    limit = trainer.limit_val_batches
    loop = trainer.fit_loop.epoch_loop.val_loop
    if other_data:
        trainer.limit_val_batches, loop._combined_loader = 1.0, None
    try:
        _validate(owner, trainer)
    finally:
        if other_data:
            trainer.limit_val_batches, loop._combined_loader = limit, None


def _validate(owner: EpochBasedTrainer, trainer: L.Trainer) -> None:
    if trainer.training:
        validate_within_fit(trainer)
    else:
        with quiet(), interrupts_kept():
            trainer.validate(owner.module, datamodule=DataModule(owner), verbose=False)


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
def quiet() -> Iterator[None]:
    """Without Lightning's banners, tips, and its warnings about what is done on purpose here."""
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    with warnings.catch_warnings():
        for message in EXPECTED_WARNINGS:
            warnings.filterwarnings("ignore", message)
        try:
            for name in LOGGERS:
                logging.getLogger(name).setLevel(max(logging.WARNING, levels[name]))
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)


@contextlib.contextmanager
def interrupts_kept() -> Iterator[None]:
    """Give the caller back the KeyboardInterrupt that Lightning turns into ``exit(1)``; a SystemExit stays one."""
    try:
        yield
    except SystemExit as stop:
        if stop.code == 1 and isinstance(stop.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from stop
        raise


class SilentProfiler(PassThroughProfiler):
    """A profiler that measures nothing, without the generator Lightning's enters around every hook (20 us an iter)."""

    @staticmethod
    def profile(action_name: str) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]
        """A context that does nothing."""
        return _NOTHING


_NOTHING: contextlib.AbstractContextManager[None] = contextlib.nullcontext()


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
