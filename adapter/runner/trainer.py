"""RunTrainer: a ``run:`` config on the documented trainer's pipeline."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from adapter.checkpoint import files
from adapter.dialects.run import callbacks
from adapter.dialects.run_settings import settings
from adapter.errors import ConfigError, Problem
from adapter.failures import shared_failures
from adapter.metrics.metric import plain
from adapter.plan import settle_work_dir
from adapter.prepare import load, located, prepare
from adapter.registry import CALLBACKS
from adapter.run_log import console_logger
from adapter.runner import building, checkpoint_file
from adapter.runner.base_task import BaseTask
from adapter.runner.device_loader import DeviceLoader
from adapter.runner.endless_sampler import EndlessSampler
from adapter.runner.hooks.checkpoint import RunCheckpointHook
from adapter.runner.hooks.log import RunLogHook
from adapter.runner.hooks.resume import BEST, RunResumeHook
from adapter.trainer import EpochBasedTrainer

DEFAULT_SEED = 42


class RunTrainer(EpochBasedTrainer):
    """Trains what a ``run:`` config describes: its task decides what a batch and an evaluation come to.

    Args:
        cfg_file: Config file, or a config that has been read already.
        seed: Of every random number generator; the config's ``run.seed`` by default, else 42.
        work_dir: Folder of this run; by default one named after the time, in ``run.output_dir``.
        callbacks: Hooks and Lightning callbacks, beside those of ``run.hooks``.
        kwargs: Other arguments of EpochBasedTrainer.

    Attributes:
        run: The settings of the run section, with the defaults.
        run_config: The config as the user wrote it, with overrides.
        task: The task.
        datasets: Split to data set.
        evaluations: Split to what its evaluation in this epoch came to.

    Raises:
        ConfigError: The config cannot be run as written.
    """

    def __init__(
        self,
        cfg_file: str | os.PathLike[str] | Mapping[str, Any],
        seed: int | None = None,
        work_dir: str | os.PathLike[str] | None = None,
        callbacks: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> None:
        config = load(cfg_file, bool(kwargs.get("trust_remote_code")))
        original = prepare(config, options=kwargs.get("cfg_options")).original
        self._original = original
        self.run = settings(original)
        self.run_config: dict[str, Any] = original.to_dict()
        self.datasets: dict[str, Any] = {}
        self.evaluations: dict[str, dict[str, Any]] = {}
        self._results: list[list[Any]] = []
        self._loaders: dict[str, DataLoader[Any]] = {}
        kwargs.setdefault("device", self.run.get("device"))
        super().__init__(
            cfg_file=config,
            seed=self.run.get("seed", DEFAULT_SEED) if seed is None else seed,
            callbacks=[*(callbacks or ()), *native_callbacks(self.run)],
            work_dir=str(work_dir or new_folder(Path(self.run.output_dir))),
            **kwargs,
        )
        if self.is_main_process:
            self.logger = console_logger()  # a run of this kind keeps log.txt, which is RunLogHook's
        self._notes = []  # `adapter explain` says what each key became
        if self.processes.size > 1:
            self._take_folder(self.processes.broadcast(self.work_dir))

    def _take_folder(self, folder: str) -> None:
        """Write to the folder of the main process, whose clock named it."""
        self.work_dir = settle_work_dir(self.cfg, folder)
        for hook in self.hooks:
            if isinstance(hook, RunCheckpointHook):
                hook.save_dir = folder
            elif isinstance(hook, RunLogHook):
                hook.out_dir = folder

    # Parts

    def _take_model(self, model: Any, device: torch.device, kwargs: Mapping[str, Any]) -> None:
        """The data sets and then the model: in the order in which the source project draws random numbers."""
        if torch.cuda.is_available():
            torch.backends.cudnn.deterministic = True  # as the source project has it
        training = () if self.run.evaluate else ("train",)
        for split in (*training, *self.run.valid_splits, *self.run.test_splits):
            if split not in self.datasets:
                self.datasets[split] = self.build_split(split)
        super()._take_model(model, device, kwargs)
        self.task: BaseTask = building.setup_task(self._original)

    def build_split(self, split: str) -> Dataset[Any]:
        """The data set of a split; ``train`` is all of ``run.train_splits``."""
        names = self.run.train_splits if split == "train" and "datasets" in self._original else (split,)
        dataset: Dataset[Any] = building.build_splits(self._original, names, training=split == "train")
        return dataset

    def build_model(self) -> nn.Module:
        """The model that ``model.arch`` names."""
        return building.build_model(self._original["model"])

    def build_dataset(self, datasets: Any, mode: str, preprocessor: Any = None) -> Any:
        """The data set of a mode; None when the run has none."""
        return self.datasets.get(mode) if datasets is None else super().build_dataset(datasets, mode, preprocessor)

    def get_data_collator(self, data_collator: Any, remove_unused_data: bool = False) -> tuple[Any, Any]:
        """The collators of the data sets."""
        own = {mode: building.collator_of(self.datasets[mode]) for mode in ("train", "val") if mode in self.datasets}
        return super().get_data_collator(data_collator or own, remove_unused_data)

    def get_train_dataloader(self) -> DataLoader[Any]:
        """The training data loader: shuffled, full batches only, over data without end when iterations are counted."""
        count = self.plan.train_iters_per_epoch
        if count is not None:
            size = count * self.plan.train_loader.batch_size
            share, shares = self.processes.share, self.processes.shares
            self._samplers["train"] = EndlessSampler(len(self.train_dataset), size * shares, self._seed, share, shares)
        loader = super().get_train_dataloader()
        loader.worker_init_fn = None  # a worker's seed is torch's own, another one each epoch
        return loader

    def create_optimizer_and_scheduler(self) -> tuple[Any, Any]:
        """AdamW over the model's ``get_optimizer_params``; the rates are set by RunScheduleHook."""
        model: Any = self.unwrap_module(self.model)
        groups = model.get_optimizer_params(self.run.weight_decay, self.run.lr_layer_decay)
        count = sum(parameter.numel() for group in groups for parameter in group["params"])
        self.logger.info("number of trainable parameters: %d", count)
        assert self.plan.optimizer is not None
        arguments = {name: value for name, value in self.plan.optimizer.args.items() if name != "weight_decay"}
        return torch.optim.AdamW(groups, **arguments), None

    def _evaluates(self) -> bool:
        """Whether there are evaluations during training."""
        return bool(self.run.valid_splits)

    def make_eval_dataloader(self) -> None:
        """Nothing: an evaluation makes the loader of each of its splits."""

    # The run

    def train(self, checkpoint_path: str | None = None, load_all_state: bool = True, strict: bool = False) -> None:
        """Train, from ``run.resume_ckpt_path`` unless another checkpoint is given; or only evaluate, if so asked.

        After training the test splits are evaluated with the best weights.
        """
        if self.run.evaluate:
            self._evaluate_only(self._beginning(checkpoint_path))
        else:
            super().train(checkpoint_path, load_all_state, strict)

    @contextlib.contextmanager
    def training(
        self,
        checkpoint_path: str | None = None,
        load_all_state: bool = True,
        strict: bool = False,
        trainer: L.Trainer | None = None,
    ) -> Iterator[L.Trainer]:
        """As in EpochBasedTrainer; after Lightning's loop the test splits are evaluated with the best weights."""
        with super().training(self._beginning(checkpoint_path), load_all_state, strict, trainer) as running:
            yield running
        if self.run.test_splits:
            best = Path(self.work_dir, BEST)
            self._write_evaluations(self.run.test_splits, str(best) if best.is_file() else None)

    def _beginning(self, checkpoint_path: str | None) -> str | None:
        """The checkpoint to begin with: the given one, else ``run.resume_ckpt_path``; None for neither."""
        asked: str | None = self.run.get("resume_ckpt_path")
        if asked and not checkpoint_path and not Path(asked).is_file():
            fix = "name a checkpoint_<epoch>.pth that is there"
            with located(self._prepared):
                raise ConfigError(Problem("run.resume_ckpt_path", f"no checkpoint at '{asked}'", fix=fix))
        return checkpoint_path or asked

    def begin_epoch(self) -> None:
        """Stage before_train_epoch, in training mode: a task or a hook may change it within the epoch."""
        self.evaluations = {}
        self.model.train()
        super().begin_epoch()

    def train_step(self, model: nn.Module, inputs: Any) -> None:
        """The task's step; what it logs goes to the log buffer."""
        stepped: Any = self.task.train_step(model=model, samples=inputs)  # type: ignore[arg-type]
        if not isinstance(stepped, (tuple, list)) or len(stepped) != 2:
            found = f"it returned a {type(stepped).__name__}"
            raise TypeError(
                f"{type(self.task).__name__}.train_step must return (loss, what is logged by name); {found}"
            )
        loss, logged = stepped
        self.train_outputs = {**logged, "loss": loss}
        self.log_buffer.update(logged)

    def evaluate(
        self,
        checkpoint_path: str | None = None,
        saving_fn: Callable[..., Any] | None = None,
        strict: bool = False,
    ) -> dict[str, Any]:
        """Evaluate ``run.valid_splits``; returns what ``val``, or else the first of them, came to."""
        if checkpoint_path is not None:
            self.load_checkpoint(checkpoint_path, strict)
        with shared_failures(self.processes):
            self.evaluations = {split: self.evaluate_split(split, saving_fn) for split in self.run.valid_splits}
        self.metric_values = self.main_values or None
        return self.main_values

    def evaluate_split(self, split: str, saving_fn: Callable[..., Any] | None = None) -> dict[str, Any]:
        """What the task makes of a split; empty when it makes nothing."""
        was_training = self.unwrap_module(self.model).training
        model = self.begin_split(split)
        results = self._evaluation(model, saving_fn)
        model.train(was_training)
        return self.end_split(split, results)

    def begin_split(self, split: str) -> Any:
        """Get ready to evaluate a split; returns the model, in evaluation mode."""
        model: Any = self.unwrap_module(self.model)
        self.eval_dataset, self.eval_dataloader = self.datasets[split], self._loader(split)
        model.eval()
        before = self.task.before_evaluation
        before(**building.accepted(before, {"model": model, "dataset": self.eval_dataset}))
        return model

    def end_split(self, split: str, results: Any) -> dict[str, Any]:
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

    def _evaluation(self, model: Any, saving_fn: Callable[..., Any] | None) -> Any:
        """The results of all batches: from Lightning's loop, or from the task's own."""
        if type(self.task).evaluation is BaseTask.evaluation:
            self._results, self.all_data = [], True
            try:
                self._pass_over_data([], saving_fn)
            finally:
                results, self._results, self.all_data = self._results, [], False
            return self.in_order(results)
        own = self.task.evaluation
        given = {"model": model, "data_loader": self._on_device(), "cuda_enabled": self.device.type == "cuda"}
        self.print_cfg()
        self.mode = "eval"
        self.invoke_hook("before_val")
        self.strategy.before_evaluation(self)
        with torch.no_grad():
            results = own(**building.accepted(own, given))
        self.invoke_hook("after_val")
        return list(chain.from_iterable(self.processes.gather(results))) if isinstance(results, list) else results

    def in_order(self, results: list[list[Any]]) -> list[Any]:
        """The results of each batch of this process, and of the others, in the order of the data."""
        batches = chain.from_iterable(zip_longest(*self.processes.gather(results), fillvalue=()))
        return [result for batch in batches for result in batch]  # batches are dealt out to the processes

    def evaluate_batch(self, batch: Any) -> None:
        """One evaluation iteration: stage before_val_iter, the task's step, stage after_val_iter."""
        self.hooks.run("before_val_iter", self)
        results = list(self.task.valid_step(model=self.unwrap_module(self.model), samples=batch))  # type: ignore[arg-type]
        self._results.append(results)
        if self._saving_fn is not None:
            self._saving_fn(batch, results)
        self.hooks.run("after_val_iter", self)

    def _loader(self, split: str) -> DataLoader[Any]:
        """The evaluation loader of a split, made for the first evaluation of it."""
        if split not in self._loaders:
            self.eval_dataset, self.eval_data_collator = (
                self.datasets[split],
                building.collator_of(self.datasets[split]),
            )
            self._loaders[split] = self.get_eval_data_loader()
        return self._loaders[split]

    def _on_device(self) -> DeviceLoader:
        return DeviceLoader(self.eval_dataloader, self.device)

    def _evaluate_only(self, path: str | None) -> None:
        """Evaluate every split there is, with a checkpoint's weights when one is given; ``log.txt`` tells."""
        for hook in self.get_hook(RunLogHook):
            hook.begin(self)
        self._write_evaluations([*self.run.valid_splits, *self.run.test_splits], path)

    def _write_evaluations(self, splits: Sequence[str], path: str | None) -> None:
        if path is not None:
            self.load_checkpoint(path)
        with shared_failures(self.processes):
            self.evaluations = {split: self.evaluate_split(split) for split in splits}
        for split, values in self.evaluations.items():
            self.logger.info("Evaluation of %s: %s", split, values)
        for hook in self.get_hook(RunLogHook):
            hook.write_evaluations(self)

    # Checkpoints

    @property
    def agg_metrics(self) -> float | None:
        """``agg_metrics`` of this epoch's evaluation of ``val``, or else of the first split; None without one."""
        return float(self.main_values["agg_metrics"]) if self.main_values else None

    @property
    def main_values(self) -> dict[str, Any]:
        """This epoch's evaluation of ``val``, or else of the first split of which the task made something."""
        return self.evaluations.get("val") or next(filter(None, self.evaluations.values()), {})

    @property
    def best_epoch(self) -> int | None:
        """The epoch with the best evaluation so far, 0 before the first; None when only evaluating."""
        hooks = self.get_hook(RunCheckpointHook)
        return None if self.run.evaluate or not hooks else hooks[0].best_epoch

    def save_checkpoint(self, prefix: Path) -> None:
        """Save a checkpoint to go on from, ``<prefix>.pth``."""
        checkpoint_file.save(self, prefix.with_name(f"{prefix.name}.pth"))

    def load_checkpoint(self, path: str, strict: bool = False) -> None:
        """Load the weights of a checkpoint of a run, or a plain state dict; frozen parameters may be missing.

        Raises:
            FileNotFoundError: No such file.
            ValueError: It cannot be loaded, or does not fit the model.
        """
        saved = files.load(Path(path))
        weights = saved["model"] if isinstance(saved, dict) and "model" in saved and "epoch" in saved else saved
        checkpoint_file.load_trained(self, weights, Path(path))

    def resume_point(self, resume: str, weights_only: bool = False) -> str:
        """The checkpoint that ``--resume`` asks for: for ``last`` the newest of the runs in ``run.output_dir``."""
        if resume != "last":
            return resume
        folder = Path(self.run.output_dir)
        here = [*Path(self.work_dir).glob("*.pth"), *folder.glob("*/*.pth")]
        found = [path for path in here if path.name != BEST and not path.name.startswith(".")]
        if not found:
            raise FileNotFoundError(f"no checkpoint (*.pth) in the runs of '{folder}'")
        return str(max(found, key=lambda path: path.stat().st_mtime_ns))

    def _load_when_training_begins(self, path: str, load_all_state: bool, strict: bool) -> None:
        if not Path(path).is_file():
            raise FileNotFoundError(f"no checkpoint at '{path}'")
        self.register_hook(RunResumeHook(Path(path), load_all_state))


def new_folder(output_dir: Path) -> str:
    """A folder for one run, which does not exist yet: named after the time, to the second."""
    name = time.strftime("%Y%m%d%H%M%S")
    names = [name, *(f"{name}_{number}" for number in range(1, 1000))]
    return str(output_dir / next(each for each in names if not (output_dir / each).exists()))


def native_callbacks(run: Mapping[str, Any]) -> list[Any]:
    """The Lightning callbacks of ``run.hooks``, built."""
    return [CALLBACKS.build(entry, key) for key, entry in callbacks(run)]
