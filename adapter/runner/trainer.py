"""RunTrainer: a ``run:`` config on the documented trainer's pipeline."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
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
from adapter.plan import settle_work_dir
from adapter.prepare import Prepared, load, located, prepare
from adapter.registry import CALLBACKS
from adapter.run_log import console_logger
from adapter.runner import building, checkpoint_file
from adapter.runner.endless_sampler import EndlessSampler
from adapter.runner.hooks.checkpoint import RunCheckpointHook
from adapter.runner.hooks.log import RunLogHook
from adapter.runner.hooks.resume import BEST, RunResumeHook
from adapter.runner.steps import RunSteps

DEFAULT_SEED = 42


class RunTrainer(RunSteps):
    """Trains what a ``run:`` config describes: its task decides what a batch and an evaluation come to.

    Args:
        cfg_file: Config file, or a config that has been read already.
        seed: Of every random number generator; the config's ``run.seed`` by default, else 42.
        work_dir: Folder of this run; by default one named after the time, in ``run.output_dir``.
        callbacks: Hooks and Lightning callbacks, beside those of ``run.hooks``.
        datasets: Split to data set, in place of the config's.
        task: The task, in place of the config's.
        kwargs: Other arguments of EpochBasedTrainer.

    Attributes:
        run_config: The config as the user wrote it, with overrides.

    Raises:
        ConfigError: The config cannot be run as written.
    """

    def __init__(
        self,
        cfg_file: str | os.PathLike[str] | Mapping[str, Any],
        seed: int | None = None,
        work_dir: str | os.PathLike[str] | None = None,
        callbacks: Sequence[Any] | None = None,
        datasets: Mapping[str, Any] | None = None,
        task: Any = None,
        **kwargs: Any,
    ) -> None:
        config = load(cfg_file, bool(kwargs.get("trust_remote_code")))
        self.cfg_modify_fn = kwargs.get("cfg_modify_fn")
        self.prepared = prepare(config, self.rebuild_config, kwargs.get("cfg_options"))
        original = self.prepared.original
        self.run = settings(original)
        self.run_config: dict[str, Any] = original.to_dict()
        self.datasets = dict(datasets or {})
        self._task = task
        self.evaluations: dict[str, dict[str, Any]] = {}
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

    def prepare_config(self, options: Mapping[str, Any] | None) -> Prepared:
        """The config as the constructor has prepared it."""
        return self.prepared

    def _take_model(self, model: Any, device: torch.device, kwargs: Mapping[str, Any]) -> None:
        """The data sets and then the model: in the order in which the source project draws random numbers."""
        if torch.cuda.is_available():
            torch.backends.cudnn.deterministic = True  # as the source project has it
        training = () if self.run.evaluate else ("train",)
        for split in (*training, *self.run.valid_splits, *self.run.test_splits):
            if split not in self.datasets:
                self.datasets[split] = self.build_split(split)
        super()._take_model(model, device, kwargs)
        if self._task is not None:  # made by a script; it may derive from the base of its project
            building.refuse_own_loop(type(self._task))
        self.task = building.setup_task(self.prepared.original) if self._task is None else self._task

    def _in_code(self, model: Any, optimizers: tuple[Any, Any]) -> dict[str, Any]:
        """What the config need not name: the data sets and the task, too, when they are passed as objects."""
        given = {"model": isinstance(model, nn.Module), "run.task": self._task is not None}
        return {**super()._in_code(model, optimizers), **given, "dataset": bool(self.datasets)}

    def build_split(self, split: str) -> Dataset[Any]:
        """The data set of a split; ``train`` is all of ``run.train_splits``."""
        names = self.run.train_splits if split == "train" and "datasets" in self.prepared.original else (split,)
        dataset: Dataset[Any] = building.build_splits(self.prepared.original, names, training=split == "train")
        return dataset

    def build_model(self) -> nn.Module:
        """The model that ``model.arch`` names."""
        return building.build_model(self.prepared.original["model"])

    def build_dataset(self, datasets: Any, mode: str, preprocessor: Any = None) -> Any:
        """The data set of a mode, which for ``val`` is that of the main split; None when the run has none."""
        split = self.main_split if mode == "val" else mode
        own = self.datasets.get(str(split))
        return own if datasets is None else super().build_dataset(datasets, mode, preprocessor)

    def get_data_collator(self, data_collator: Any, remove_unused_data: bool = False) -> tuple[Any, Any]:
        """The collators of the data sets."""
        splits = {"train": "train", "val": self.main_split}
        own = {
            mode: building.collator_of(self.datasets[split]) for mode, split in splits.items() if split in self.datasets
        }
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
            with located(self.prepared):
                raise ConfigError(Problem("run.resume_ckpt_path", f"no checkpoint at '{asked}'", fix=fix))
        return checkpoint_path or asked

    def _evaluate_only(self, path: str | None) -> None:
        """Evaluate every split there is, with a checkpoint's weights when one is given; ``log.txt`` tells."""
        for hook in self.get_hook(RunLogHook):
            hook.begin(self)
        self._write_evaluations([*self.run.valid_splits, *self.run.test_splits], path)

    def _write_evaluations(self, splits: Sequence[str], path: str | None) -> None:
        if path is not None:
            self.load_checkpoint(path)
        with shared_failures(self.processes):
            self.evaluations = {}
            for split in splits:
                self.evaluate_split(split)
        for split, values in self.evaluations.items():
            self.logger.info("Evaluation of %s: %s", split, values)
        for hook in self.get_hook(RunLogHook):
            hook.write_evaluations(self)

    # Checkpoints

    @property
    def best_values(self) -> dict[str, Any]:
        """What the best evaluation of the main split came to; empty before the first."""
        return next((hook.best_values for hook in self.get_hook(RunCheckpointHook)), {})

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
