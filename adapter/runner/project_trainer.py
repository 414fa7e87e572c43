"""Trainer: what the script of a ``run:`` project hands its parts to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from adapter.dialects.run_settings import settings
from adapter.runner.trainer import RunTrainer
from adapter.seeding import random_state, set_random_state


class Trainer(RunTrainer):
    """Trains parts that a script has built, as ``adapter fit`` trains those that the config names.

    Random numbers go on where the script has come to; it seeds them itself.

    Args:
        config: The whole config, of which the section ``run`` is read. Without ``valid_splits`` it evaluates ``val``.
        model: The model.
        datasets: Split (``train``, ``val``) to data set.
        task: The task.
        job_id: Name of the run's folder in ``run.output_dir``.

    Raises:
        ConfigError: The section cannot be run as written, or the task has a training loop of its own.
    """

    def __init__(
        self, config: Mapping[str, Any], model: nn.Module, datasets: Mapping[str, Any], task: Any, job_id: str
    ) -> None:
        given = as_written(config)
        if "val" in datasets:
            given.setdefault("run", {}).setdefault("valid_splits", ["val"])
        kept = random_state()
        super().__init__(
            given,
            seed=torch.initial_seed() % 2**32,
            work_dir=Path(settings(given).output_dir, str(job_id)),
            model=model,
            datasets=datasets,
            task=task,
        )
        set_random_state(kept)
        self._seed = self.processes.broadcast(self._seed)  # of the order that all share; a script may seed each apart

    def train(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]  # scripts read it
        """As in RunTrainer; returns what the best evaluation came to, empty without one."""
        super().train(*args, **kwargs)
        return self.main_values if self.run.evaluate else self.best_values


def as_written(config: Any) -> Any:
    """A config of mappings and lists of any kind, such as OmegaConf's, as dictionaries and lists."""
    if isinstance(config, Mapping):
        return {key: as_written(value) for key, value in config.items()}
    if isinstance(config, Sequence) and not isinstance(config, (str, bytes)):
        return [as_written(value) for value in config]
    return config
