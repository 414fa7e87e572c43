"""RunSteps: what the task of a ``run:`` config does with a batch, and with a split."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, zip_longest
from typing import Any

from torch import nn
from torch.utils.data import DataLoader

from adapter.config import ConfigDict
from adapter.errors import ConfigError, Problem
from adapter.failures import shared_failures
from adapter.lightning import engine
from adapter.metrics.metric import plain
from adapter.runner import building
from adapter.runner.base_task import BaseTask
from adapter.runner.device_loader import DeviceLoader
from adapter.runner.own_loop import OwnLoop
from adapter.trainer import EpochBasedTrainer


class RunSteps(EpochBasedTrainer):
    """Trains and evaluates as a task says.

    Attributes:
        run: The settings of the run section, with the defaults.
        task: The task.
        datasets: Split to data set.
        evaluations: Split to what its evaluation in this epoch came to.
    """

    EVALUATION_DATA = "run.valid_splits"

    run: ConfigDict
    task: BaseTask
    datasets: dict[str, Any]
    evaluations: dict[str, dict[str, Any]]
    _loaders: dict[str, DataLoader[Any]]

    def begin_epoch(self) -> None:
        """Stage before_train_epoch, in training mode: a task or a hook may change it within the epoch."""
        self.evaluations = {}
        self.model.train()
        super().begin_epoch()

    def train_step(self, model: nn.Module, inputs: Any) -> None:
        """The task's step; what it logs goes to the log buffer.

        Raises:
            TypeError: The step returned something else than a loss and what is logged.
        """
        step: Callable[..., Any] = self.task.train_step
        stepped = step(model=model, samples=inputs)
        if not isinstance(stepped, (tuple, list)) or len(stepped) != 2:
            found = f"it returned a {type(stepped).__name__}"
            raise TypeError(
                f"{type(self.task).__name__}.train_step must return (loss, what is logged by name); {found}"
            )
        loss, logged = stepped
        self.train_outputs = {**logged, "loss": loss}
        self.log_buffer.update(logged)

    def evaluation_step(self, data: Any) -> list[Any]:
        """The task's step; returns its results, one entry a sample."""
        step: Callable[..., Any] = self.task.valid_step
        return list(step(model=self.unwrap_module(self.model), samples=data))

    def evaluate(
        self,
        checkpoint_path: str | None = None,
        saving_fn: Callable[..., Any] | None = None,
        strict: bool = False,
    ) -> dict[str, Any]:
        """Evaluate ``run.valid_splits``; returns ``values``.

        Raises:
            ConfigError: ``saving_fn`` is given, and the task has an evaluation loop of its own.
        """
        if checkpoint_path is not None:
            self.load_checkpoint(checkpoint_path, strict)
        with shared_failures(self.processes):
            self.evaluations = {}
            for split in self.run.valid_splits:
                self.evaluate_split(split, saving_fn)
        self.metric_values = self.values or None
        return self.values

    def evaluate_split(self, split: str, saving_fn: Callable[..., Any] | None = None) -> None:
        """Leave in ``evaluations`` what the task makes of a split; nothing when it makes nothing."""
        was_training = self.unwrap_module(self.model).training
        try:
            with self.to_the_end(), self.evaluating_split(split, saving_fn):
                engine.validate(self, self._engine or engine.build_trainer(self))
        finally:
            self.unwrap_module(self.model).train(was_training)

    @contextlib.contextmanager
    def evaluating_split(self, split: str, saving_fn: Callable[..., Any] | None = None) -> Iterator[None]:
        """What surrounds Lightning's loop over a split, for whoever runs it; ``evaluations`` has the split at its end.

        Args:
            split: Its name.
            saving_fn: Called as ``saving_fn(inputs, results)`` for each batch.

        Raises:
            ConfigError: ``saving_fn`` is given, and the task has an evaluation loop of its own.
        """
        if saving_fn is not None and self.has_own_evaluation:
            found = f"{type(self.task).__name__} has an evaluation loop of its own, which hands over no batches"
            raise ConfigError(Problem("saving_fn", found, fix="use predict, which asks the task's valid_step"))
        batches: list[list[Any]] = []

        def keep(inputs: Any, results: list[Any]) -> None:
            batches.append(results)
            if saving_fn is not None:
                saving_fn(inputs, results)

        model = self._begin_split(split)
        own = OwnLoop(self.task, model, DeviceLoader(self.eval_dataloader, self.device))
        if self.has_own_evaluation:
            self.eval_dataloader = own
        with self._batches_go_to([], keep):
            yield
        results = self._gathered(own.results) if self.has_own_evaluation else self.in_order(batches)
        self.evaluations[split] = self._judged(split, results)

    def _gathered(self, results: Any) -> Any:
        """What the loops of all processes returned, where it is a list; else what this one's did."""
        return list(chain.from_iterable(self.processes.gather(results))) if isinstance(results, list) else results

    def _begin_split(self, split: str) -> Any:
        """Get ready to evaluate a split; returns the model, in evaluation mode."""
        model: Any = self.unwrap_module(self.model)
        self.eval_dataloader, self.eval_dataset = self._loader(split), self.datasets[split]
        model.eval()
        before = self.task.before_evaluation
        before(**building.accepted(before, {"model": model, "dataset": self.eval_dataset}))
        return model

    def _judged(self, split: str, results: Any) -> dict[str, Any]:
        """What the task makes of the results of a split.

        Raises:
            ValueError: No ``agg_metrics`` in it.
        """
        after = self.task.after_evaluation
        found = after(**building.accepted(after, {"val_result": results, "epoch": self.epoch, "split_name": split}))
        if found is not None and (not isinstance(found, Mapping) or "agg_metrics" not in found):
            raise ValueError(
                f"{type(self.task).__name__}.after_evaluation must return a mapping with 'agg_metrics', the value that "
                f"decides which checkpoint is best, or None; it returned {found!r}"
            )
        return {name: plain(value) for name, value in (found or {}).items()}

    def in_order(self, batches: list[list[Any]]) -> list[Any]:
        """The results of this process's batches, and of the others', in the order of the data."""
        dealt = chain.from_iterable(zip_longest(*self.processes.gather(batches), fillvalue=()))
        return [result for batch in dealt for result in batch]  # batches are dealt out to the processes

    @property
    def has_own_evaluation(self) -> bool:
        """Whether the task evaluates in a loop of its own, rather than in Lightning's."""
        return type(self.task).evaluation is not BaseTask.evaluation

    @property
    def main_split(self) -> str | None:
        """``val``, or else the first of ``run.valid_splits``; None without any."""
        splits = self.run.valid_splits
        return "val" if "val" in splits else next(iter(splits), None)

    @property
    def main_values(self) -> dict[str, Any]:
        """This epoch's evaluation of ``val``, or else of the first split of which the task made something."""
        return self.evaluations.get("val") or next(filter(None, self.evaluations.values()), {})

    @property
    def values(self) -> dict[str, Any]:
        """``main_values``, and those of every other split as ``<split>_<name>``."""
        main = self.main_values
        others = {split: values for split, values in self.evaluations.items() if values is not main}
        return main | {f"{split}_{name}": value for split, values in others.items() for name, value in values.items()}

    @property
    def agg_metrics(self) -> float | None:
        """``agg_metrics`` of this epoch's evaluation of ``val``, or else of the first split; None without one."""
        return float(self.main_values["agg_metrics"]) if self.main_values else None

    def make_eval_dataloader(self) -> None:
        """Nothing: an evaluation makes the loader of each of its splits."""

    def _loader(self, split: str) -> DataLoader[Any]:
        """The evaluation loader of a split, made for the first evaluation of it."""
        if split not in self._loaders:
            usual, self.eval_dataset = self.eval_data_collator, self.datasets[split]
            try:
                self.eval_data_collator = building.collator_of(self.eval_dataset)
                self._loaders[split] = self.get_eval_data_loader()
            finally:
                self.eval_data_collator = usual  # that of the main split, which is predicted
        return self._loaders[split]
