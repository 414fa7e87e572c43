"""LoggersHook: log lines to the loggers of Lightning."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapter.errors import ConfigError, Problem, nearest, reason_of
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
RUN_ARGUMENTS = {"wandb": "id", "mlflow": "run_id"}  # of those that can go on with a run
TRACKING_URI = os.environ.get("MLFLOW_TRACKING_URI")  # as the user set it; mlflow sets it, too


@HOOKS.register_module()
class LoggersHook(LoggerHook):
    """Hands every number of a log line, and the config, to loggers of Lightning.

    The lines are those of the text log. Files go to the work directory: ``csv/<timestamp>``,
    ``tensorboard/<timestamp>``, ``wandb``, and ``mlflow.db`` with ``mlruns``. A resumed run goes on with the run of
    wandb and of mlflow that it began.

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
        self._runs: dict[str, str] = {}

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Make the loggers, on the main process, and give them the config.

        Raises:
            ConfigError: One refuses its arguments, or cannot reach where it writes.
        """
        from adapter.checkpoint.hub import without_tokens

        super().before_run(trainer)
        text_log = next((hook for hook in trainer.hooks if isinstance(hook, LoggerHook) and hook is not self), None)
        if text_log is not None:
            self.interval, self.ignore_last, self.by_epoch = text_log.interval, text_log.ignore_last, text_log.by_epoch
        if not trainer.is_main_process:
            return
        settings = without_tokens(trainer.cfg).to_dict()
        self.loggers = [_begun(name, self._run_of(name) | args, trainer, settings) for name, args in self.asked]

    def log(self, trainer: EpochBasedTrainer) -> None:
        """Hand over the numbers of the line, at the number of the iteration, counted from 1 over the run."""
        output = trainer.log_buffer.output
        numbers = {name: float(value) for name, value in output.items() if is_number(value)}
        for logger in self.loggers:
            logger.log_metrics({**numbers, "epoch": trainer.epoch + 1}, step=trainer.iter + 1)
            logger.save()  # a run that is killed leaves its lines

    def after_run(self, trainer: EpochBasedTrainer) -> None:
        """Tell the loggers that the run is over."""
        for (name, _), logger in zip(self.asked, self.loggers, strict=True):
            logger.finalize("success")
            if name == "wandb":  # the class leaves it open, and the next run of the process would go on with it
                logger.experiment.finish()
        self.loggers = []

    def state_dict(self) -> dict[str, Any]:
        """Which runs of wandb and mlflow to go on with."""
        names = [name for name, _ in self.asked]
        runs = {
            name: str(logger.version)
            for name, logger in zip(names, self.loggers, strict=False)
            if name in RUN_ARGUMENTS and names.count(name) == 1
        }
        return {"runs": runs} if runs else {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on with the runs."""
        self._runs = dict(state_dict["runs"])

    def _run_of(self, name: str) -> dict[str, str]:
        """The argument that goes on with the logger's run; nothing without one."""
        return {RUN_ARGUMENTS[name]: self._runs[name]} if name in self._runs else {}


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


def _begun(name: str, args: Mapping[str, Any], trainer: EpochBasedTrainer, settings: dict[str, Any]) -> Any:
    """The logger, which has the config, and writes to the work directory unless its arguments say otherwise."""
    try:
        logger = _class_of(name)(**{**_places(name, trainer), **args})
        if name != "mlflow" or "run_id" not in args:  # a run of mlflow keeps the values it began with
            logger.log_hyperparams(settings)
    except Exception as error:  # the packages have kinds of their own for what they refuse or cannot reach
        raise ConfigError(Problem("train.loggers", f"{name} cannot begin: {reason_of(error)}")) from error
    return logger


def _places(name: str, trainer: EpochBasedTrainer) -> dict[str, Any]:
    """Arguments that say where a logger writes."""
    folder = os.path.abspath(trainer.work_dir)
    if name == "wandb":
        return {"save_dir": folder}
    if name == "mlflow":  # in a database, as its files are no longer kept up
        store = {"tracking_uri": f"sqlite:///{folder}/mlflow.db", "artifact_location": f"{folder}/mlruns"}
        return {"run_name": trainer.timestamp, **({"tracking_uri": TRACKING_URI} if TRACKING_URI else store)}
    return {"save_dir": folder, "name": name, "version": trainer.timestamp}
