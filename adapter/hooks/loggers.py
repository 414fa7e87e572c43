"""LoggersHook: log lines to the loggers of Lightning."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapter.errors import REFUSALS, ConfigError, Problem, nearest, reason_of
from adapter.hooks.logger import LoggerHook, is_number
from adapter.registry import HOOKS, check_arguments

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

LOGGERS = {  # name -> Lightning's class, and the package it needs
    "csv": ("CSVLogger", ""),
    "tensorboard": ("TensorBoardLogger", "tensorboard"),
    "wandb": ("WandbLogger", "wandb"),
    "mlflow": ("MLFlowLogger", "mlflow"),
}


@HOOKS.register_module()
class LoggersHook(LoggerHook):
    """Hands every number of a log line, and the config, to loggers of Lightning.

    The lines are those of the text log. Files go to the work directory: ``csv/<timestamp>``, ``tensorboard``, and what
    wandb and mlflow make of it.

    Args:
        loggers: ``csv``, ``tensorboard``, ``wandb`` or ``mlflow``; or ``{"type": "wandb", **arguments of its class}``;
            or a list of such.

    Raises:
        ConfigError: Another name, a package that is not installed, an argument that the class does not take.
    """

    RANK = 10

    def __init__(self, loggers: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]) -> None:
        super().__init__()
        listed = [loggers] if isinstance(loggers, (str, Mapping)) else list(loggers)
        given = [dict(each) if isinstance(each, Mapping) else {"type": each} for each in listed]
        self.asked = [(str(args.pop("type", "")), args) for args in given]
        for name, args in self.asked:
            _check(name, args)
        self.loggers: list[Any] = []

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Make the loggers, on the main process, and give them the config."""
        from adapter.checkpoint.hub import without_tokens

        super().before_run(trainer)
        text_log = next((hook for hook in trainer.hooks if isinstance(hook, LoggerHook) and hook is not self), None)
        if text_log is not None:
            self.interval, self.ignore_last, self.by_epoch = text_log.interval, text_log.ignore_last, text_log.by_epoch
        if not trainer.is_main_process:
            return
        self.loggers = [_make(name, args, trainer) for name, args in self.asked]
        for logger in self.loggers:
            logger.log_hyperparams(without_tokens(trainer.cfg).to_dict())

    def log(self, trainer: EpochBasedTrainer) -> None:
        """Hand over the numbers of the line, at the number of the iteration, counted from 1 over the run."""
        output = trainer.log_buffer.output
        numbers = {name: float(value) for name, value in output.items() if is_number(value)}
        for logger in self.loggers:
            logger.log_metrics({**numbers, "epoch": trainer.epoch + 1}, step=trainer.iter + 1)
            logger.save()  # a run that is killed leaves its lines

    def after_run(self, trainer: EpochBasedTrainer) -> None:
        """Tell the loggers that the run is over."""
        for logger in self.loggers:
            logger.finalize("success")
        self.loggers = []


def _check(name: str, args: dict[str, Any]) -> None:
    if name not in LOGGERS:
        found, near = f"no logger is called '{name}'", nearest(name, LOGGERS)
        raise ConfigError(Problem("loggers", found, ", ".join(LOGGERS), near, kind="name"))
    package = LOGGERS[name][1]
    if package and importlib.util.find_spec(package) is None:
        raise ConfigError(Problem("loggers", f"'{name}' needs the package {package}", fix=f"pip install {package}"))
    check_arguments(_class_of(name), {"save_dir": "", **args}, "loggers")


def _class_of(name: str) -> Any:
    from lightning.pytorch import loggers

    return getattr(loggers, LOGGERS[name][0])


def _make(name: str, args: Mapping[str, Any], trainer: EpochBasedTrainer) -> Any:
    """The logger, writing to the work directory unless its arguments say otherwise."""
    places: dict[str, dict[str, Any]] = {
        "csv": {"save_dir": trainer.work_dir, "name": "csv", "version": trainer.timestamp},
        "tensorboard": {"save_dir": trainer.work_dir, "name": "tensorboard", "version": trainer.timestamp},
        "wandb": {"save_dir": trainer.work_dir},
        "mlflow": {"save_dir": f"{trainer.work_dir}/mlruns", "run_name": trainer.timestamp},
    }
    try:
        return _class_of(name)(**{**places[name], **args})
    except REFUSALS as error:
        raise ConfigError(Problem("train.loggers", f"{name} refuses its arguments: {reason_of(error)}")) from error
