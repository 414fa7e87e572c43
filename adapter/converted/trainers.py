"""The trainers in a run that a Lightning trainer of somebody else's has begun."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lightning as L

from adapter.config import Config
from adapter.converted.data import ConfigData
from adapter.converted.hook import ConfigHook
from adapter.converted.model import ConfigModel
from adapter.converted.run_sections import join_run
from adapter.converted.sections import HookEntry, Sections, join
from adapter.dialects.run_settings import iterations, precision, settings
from adapter.errors import ConfigError, Problem
from adapter.failures import shared_failures
from adapter.lightning.strategies.choice import is_default
from adapter.plan import make_plan
from adapter.runner.trainer import RunTrainer
from adapter.trainer import EpochBasedTrainer


class InsideLightning(EpochBasedTrainer):
    """Runs the documented config that a ConfigModel, its data and the hooks among a Trainer's callbacks make up.

    Args:
        model: What Lightning trains.
        data: Its data.
        outer: The Trainer that is about to run.

    Raises:
        ConfigError: The config cannot be run as written.
    """

    def __init__(self, model: ConfigModel, data: ConfigData, outer: L.Trainer) -> None:
        self._given, self._data = model, data
        self._documented = Config(join(Sections(model.sections, data.sections, asked_of(outer), hooks_of(outer))))
        super().__init__(
            cfg_file=self._documented,
            seed=seed_of_lightning(),
            trust_remote_code=model.trust_remote_code,
            trainer_args=engine_args(outer, make_plan(self._documented).precision),
        )

    @property
    def config_dir(self) -> Path:
        """Where relative paths start: as the data say."""
        return self._data.base_dir

    def rebuild_config(self, cfg: Config) -> Config:
        """The config with the hooks that are listed, and no others."""
        return self._documented

    def _make_module(self) -> ConfigModel:
        self._given.owner, self._given.model = self, self.model
        return self._given


class InsideRun(RunTrainer):
    """Runs the ``run:`` config that a ConfigModel, its data and the hooks among a Trainer's callbacks make up.

    Args:
        model: What Lightning trains.
        data: Its data.
        outer: The Trainer that is about to run. Its epochs, batches and folder win over the config's.

    Raises:
        ConfigError: The config cannot be run as written.
    """

    def __init__(self, model: ConfigModel, data: ConfigData, outer: L.Trainer) -> None:
        self._given, self._outer = model, outer
        config = Config(join_run(Sections(model.sections, data.sections, {}, hooks_of(outer))))
        run, asked = settings(config), asked_of(outer)
        folder = asked.pop("default_root_dir")
        if os.path.normpath(run.output_dir) != os.path.normpath(folder):
            config.run.output_dir = folder
        super().__init__(
            config,
            seed=seed_of_lightning(),
            trust_remote_code=model.trust_remote_code,
            trainer_args=engine_args(outer, precision(run)),
            max_epochs=asked["max_epochs"],
            train_iters_per_epoch=asked.get("limit_train_batches"),
        )
        written = dict(zip(("max_epochs", "limit_train_batches"), iterations(run), strict=True))
        self._warnings += [
            f"trainer.{name}={value} wins over the run section, which says {written.get(name)}"
            for name, value in asked.items()
            if value != written.get(name)
        ]

    def _make_module(self) -> ConfigModel:
        self._given.owner, self._given.model = self, self.model
        return self._given

    @contextlib.contextmanager
    def training(self, *args: Any, **kwargs: Any) -> Iterator[L.Trainer]:
        """As in RunTrainer.

        Raises:
            ConfigError: The config only evaluates.
        """
        if self.run.evaluate:
            raise ConfigError(Problem("run.evaluate", "true, so there is nothing to train", fix="use validate or test"))
        with super().training(*args, **kwargs) as trainer:
            yield trainer

    @contextlib.contextmanager
    def evaluating(self, saving_fn: Callable[..., Any] | None = None) -> Iterator[None]:
        """What surrounds Lightning's loop when it evaluates ``run.valid_splits``.

        Raises:
            ConfigError: There are none.
        """
        with self._evaluating("valid_splits", saving_fn):
            yield

    @contextlib.contextmanager
    def testing(self) -> Iterator[None]:
        """What surrounds Lightning's loop when it evaluates ``run.test_splits``.

        Raises:
            ConfigError: There are none.
        """
        with self._evaluating("test_splits"):
            yield

    @contextlib.contextmanager
    def _evaluating(self, key: str, saving_fn: Callable[..., Any] | None = None) -> Iterator[None]:
        """Lightning's loop goes over the last of the splits, after the others."""
        if not self.run[key]:
            raise ConfigError(Problem(f"run.{key}", "there is no data to evaluate on", fix="name a split"))
        *others, last = self.run[key]
        self.evaluations = {}
        with shared_failures(self.processes):
            for split in others:
                self.evaluate_split(split, saving_fn)
            self.module.trainer = self._outer  # the others had one of their own
            with self.evaluating_split(last, saving_fn):
                yield
        self.metric_values = self.values or None
        for split, values in self.evaluations.items():
            self.logger.info("Evaluation of %s: %s", split, values)


def asked_of(outer: L.Trainer) -> dict[str, Any]:
    """What a Trainer decides of a config, by its arguments: epochs, the folder, limits of batches."""
    limits = {f"limit_{mode}_batches": getattr(outer, f"limit_{mode}_batches") for mode in ("train", "val")}
    return {
        "max_epochs": outer.max_epochs,
        "default_root_dir": outer.default_root_dir,
        **{name: limit for name, limit in limits.items() if isinstance(limit, int)},
    }


def hooks_of(outer: L.Trainer) -> tuple[HookEntry, ...]:
    """The hooks that are listed among a Trainer's callbacks."""
    trainer: Any = outer  # Lightning does not declare its callbacks
    return tuple(each.entry for each in trainer.callbacks if isinstance(each, ConfigHook))


def seed_of_lightning() -> int:
    """What Lightning's ``seed_everything`` was told."""
    return int(os.environ.get("PL_GLOBAL_SEED", "42"))


def engine_args(outer: L.Trainer, planned_precision: str) -> dict[str, Any]:
    """Arguments for a Lightning trainer on the same devices, with what the user has asked for."""
    arguments: dict[str, Any] = {
        "accelerator": outer.accelerator,
        "devices": outer.num_devices if outer.strategy.root_device.type == "cpu" else outer.device_ids,
        "num_nodes": outer.num_nodes,
        "enable_progress_bar": False,
    }
    if outer.precision != planned_precision:
        arguments["precision"] = outer.precision
    if not is_default(outer.strategy):
        arguments["strategy"] = outer.strategy
    return arguments
