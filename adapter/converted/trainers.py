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
from adapter.errors import ConfigError, Problem
from adapter.failures import shared_failures
from adapter.lightning.strategies.choice import is_default
from adapter.plan import make_plan
from adapter.prepare import check, prepare
from adapter.runner.base_task import BaseTask
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
    def base_dir(self) -> Path:
        """Where relative paths of the data start: as the data say."""
        return self._data.base_dir

    def rebuild_config(self, cfg: Config) -> Config:
        """The config with the hooks that are listed, and no others."""
        return self._documented

    def predicting(self) -> contextlib.AbstractContextManager[None]:
        """What surrounds Lightning's prediction loop: an evaluation without metrics."""
        return self._batches_go_to([], None)

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
        self._given = model
        config = Config(join_run(Sections(model.sections, data.sections, {}, hooks_of(outer))))
        asked = asked_of(outer)
        prepared = prepare(config)
        check(prepared)
        plan = make_plan(prepared.config)
        folder = asked.pop("default_root_dir")
        if os.path.normpath(plan.work_dir) != os.path.normpath(folder):
            config.run.output_dir = folder
        super().__init__(
            config,
            seed=seed_of_lightning(),
            trust_remote_code=model.trust_remote_code,
            trainer_args=engine_args(outer, plan.precision),
            max_epochs=asked["max_epochs"],
            train_iters_per_epoch=asked.get("limit_train_batches"),
        )
        self._warnings += [
            f"trainer.{name}={value} wins over the run section, which says {plan.trainer.get(name)}"
            for name, value in asked.items()
            if value != plan.trainer.get(name)
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
            raise ConfigError(Problem("run.evaluate", "true, so there is nothing to train", fix="use validate"))
        with super().training(*args, **kwargs) as trainer:
            yield trainer

    @contextlib.contextmanager
    def evaluating(self, saving_fn: Callable[..., Any] | None = None) -> Iterator[None]:
        """What surrounds Lightning's loop over ``val``, or else the first of ``run.valid_splits``.

        Raises:
            ConfigError: No such split, or a task with a loop of its own.
        """
        splits = self.run.valid_splits
        if not splits:
            raise ConfigError(Problem("run.valid_splits", "there is no data to evaluate on", fix="name a split"))
        if type(self.task).evaluation is not BaseTask.evaluation:
            found = f"{type(self.task).__name__} has an evaluation loop of its own"
            raise ConfigError(Problem("run.task", found, fix="use `adapter validate` with the run: config"))
        split = "val" if "val" in splits else splits[0]
        self.begin_split(split)
        self._results = []
        with shared_failures(self.processes):
            with self._batches_go_to([], saving_fn):
                yield
            self.metric_values = self.end_split(split, self.in_order(self._results))


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
    return tuple(each.entry for each in outer.callbacks if isinstance(each, ConfigHook))  # type: ignore[attr-defined]


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
