"""TrainerData: the data of a run, each part built by a method that a subclass may override."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn
from torch.utils.data import DataLoader

from adapter.base_trainer import BaseTrainer
from adapter.data.build import build_dataset, label_values, section_of
from adapter.data.collate import RemoveColumnsCollator, default_collate, forward_columns
from adapter.data.columns import text_columns
from adapter.data.dataset import has_length, wrap_dataset
from adapter.data.labels import Labels, declared_labels, distinct_labels, nothing_to_learn, split_words
from adapter.data.loader import build_loader
from adapter.data.preprocessor import build_preprocessor, can_build
from adapter.errors import ConfigError, Problem
from adapter.models import modelscope_model
from adapter.models.positions import token_positions
from adapter.models.pretrained import model_arguments, pretrained_section
from adapter.plan import Plan, loader_plan
from adapter.tasks.task import Task, find_task


class TrainerData(BaseTrainer):
    """Builds labels, preprocessors, data sets, collators and loaders from the plan.

    Attributes:
        plan: What Lightning gets.
        model: The model.
        purpose: What the run is for: ``train``, ``evaluate`` or ``predict``.
        model_dir: Local model directory; None for a model passed as an object or built from the config.
        labels: Every label of the data; None when neither the config nor the task asks for any.
        data_of_config: Whether the training data are those of the config, rather than passed as an object.
        train_dataset: Training data; None when there are none.
        eval_dataset: Evaluation data; None when there are none, or none were needed yet.
        eval_dataloader: Evaluation loader; None until one is needed.
    """

    EVALUATION_DATA = "dataset.val"  # key of the data to evaluate

    plan: Plan
    model: nn.Module
    purpose: str
    model_dir: str | None
    labels: Labels | None
    data_of_config: bool
    train_dataset: Any
    eval_dataset: Any
    train_preprocessor: Any
    eval_preprocessor: Any
    eval_dataloader: Any
    train_data_collator: Callable[..., Any]
    eval_data_collator: Callable[..., Any]
    _samplers: dict[str, Any]
    _seed: int

    @property
    def config_dir(self) -> Path | None:
        """The config's folder; None for a config made in code."""
        return Path(self.cfg.filename).parent if self.cfg.filename else None

    @property
    def base_dir(self) -> Path:
        """Where the config's relative paths start: its folder, or the current one."""
        return self.config_dir or Path()

    @property
    def known_task(self) -> Task | None:
        """What the config's ``task`` means; None for one that nobody knows."""
        return find_task(self.plan.task)

    @property
    def is_modelscopes(self) -> bool:
        """Whether the config's model, and with it the preprocessor, is ModelScope's to build."""
        return modelscope_model.is_modelscopes(self.plan.model, self.model_dir)

    def read_labels(self, from_data: bool, built: bool) -> Labels | None:
        """Every label: those that the config lists, else the distinct ones of its training data, sorted.

        None for a model of ModelScope, whose preprocessor numbers the labels.

        Args:
            from_data: The training data are those of the config.
            built: The model is one that the config names; one that has been built knows its classes.
        """
        if built and self.is_modelscopes:
            return None
        declared, task = declared_labels(self.cfg), self.known_task
        if declared is not None:
            return _distinguishable(declared, task)
        if task is None or not task.classes or not from_data:
            return None
        values = label_values(self.plan.dataset, self.base_dir)
        if task.parts:
            values = [part for value in values for part in (split_words(value) if isinstance(value, str) else [value])]
        model = pretrained_section(self.plan.model, self.model_dir)
        takes_number = built and "num_labels" in model_arguments(model, {"num_labels": 0})
        wanted = any(isinstance(value, str) for value in values) or (takes_number and bool(values))
        return _distinguishable(distinct_labels(values), task) if wanted else None

    @property
    def output_labels(self) -> Labels | None:
        """The labels of what the model says: those of the run, else of a preprocessor that numbers them itself."""
        numbered = {"preprocessor": {"label2id": getattr(self.eval_preprocessor, "label2id", None)}}
        return self.labels or declared_labels(numbered)

    def get_preprocessors(self, preprocessor: Any) -> tuple[Any, Any]:
        """The preprocessors for training and for evaluation."""
        given = by_mode(preprocessor, "preprocessor") if preprocessor is not None else None
        return (given["train"], given["val"]) if given else self.build_preprocessor()

    def build_preprocessor(self) -> tuple[Any, Any]:
        """The preprocessors that the config names, for training and for evaluation; None each by default.

        A config whose data sets are passed as objects may name ones that are not at hand; they are not built then.
        """
        if self.model_dir is not None and self.is_modelscopes:
            train, val = (self._preprocessor_of_modelscope(self.model_dir, mode) for mode in ("train", "val"))
            return train, val
        data = self.plan.dataset
        described = "name" in data or any(isinstance(data.get(mode), Mapping) for mode in ("train", "val"))
        if not described and not can_build(self.plan.preprocessor):
            return None, None
        train, val = (
            build_preprocessor(self.plan.preprocessor, mode, offered=self.preprocessor_arguments(mode))
            for mode in ("train", "val")
        )
        return train, val

    def _preprocessor_of_modelscope(self, model_dir: str, mode: str) -> Any:
        """ModelScope's preprocessor of a mode, told the columns that the data set's section names."""
        known = self.preprocessor_arguments(mode)
        told = ("first_sequence", "second_sequence", "label", "label2id")
        columns = {name: known[name] for name in told if known.get(name) is not None}
        return modelscope_model.build_preprocessor(model_dir, self.cfg, mode, columns)

    def preprocessor_arguments(self, mode: str) -> dict[str, Any]:
        """Arguments for the preprocessors of a mode (``train``, ``val``), where they have such parameters."""
        model, place = pretrained_section(self.plan.model, self.model_dir), self.base_dir
        told = {"mode": mode, "base_dir": place, "model_dir": model.get("path", self.model_dir)}
        told["positions"] = token_positions(self.model)
        told["unlabeled"] = self.purpose == "predict" and mode == "val"
        section = self.plan.dataset.get(mode)
        first = section[0] if isinstance(section, (list, tuple)) and section else section
        texts = text_columns(section_of(first, self.plan.dataset, mode), self.data_of_config)
        return {**told, **texts, "label2id": None if self.labels is None else self.labels.label2id}

    def build_dataset(self, datasets: Any, mode: str, preprocessor: Any = None) -> Any:
        """The data set of a mode, with the preprocessor applied to each sample.

        Args:
            datasets: A data set, a list of them, or None to build what the config names.
            mode: ``train`` or ``val``.
            preprocessor: Applied to each sample; None leaves samples as they are.
        """
        if datasets is not None:
            return wrap_dataset(datasets, preprocessor)
        encodes = self.labels is not None and not (self.known_task is not None and self.known_task.parts)
        labels = self.labels.names if encodes and self.labels is not None else None
        cfg = {name: _without_labels(section) for name, section in self.plan.dataset.items()}
        unlabeled = self.purpose == "predict" and mode == "val"
        built = build_dataset(cfg, mode, preprocessor, self.base_dir, labels=labels, unlabeled=unlabeled)
        names = getattr(built, "column_names", None) or ()
        task = self.known_task if mode == "train" else None
        if task is not None and task.needs_labels and "input_ids" in names and "labels" not in names:
            raise nothing_to_learn()
        return built

    def get_data_collator(self, data_collator: Any, remove_unused_data: bool = False) -> tuple[Any, Any]:
        """The collators for training and for evaluation: those given, the preprocessors' ``collate``, or torch's."""
        given = by_mode(data_collator, "data_collator")
        preprocessors = {"train": self.train_preprocessor, "val": self.eval_preprocessor}
        own = {mode: getattr(preprocessor, "collate", default_collate) for mode, preprocessor in preprocessors.items()}
        collators = [given[mode] or own[mode] for mode in ("train", "val")]
        columns = forward_columns(self.model) if remove_unused_data else None
        if columns is not None:
            collators = [RemoveColumnsCollator(columns, collate) for collate in collators]
        return collators[0], collators[1]

    def get_train_dataloader(self) -> DataLoader[Any]:
        """The training data loader."""
        dataset = _needed(self.train_dataset, "train_dataset", "dataset.train")
        loader = build_loader(
            dataset,
            self.plan.train_loader,
            collate_fn=self.train_data_collator,
            sampler=self._samplers["train"],
            seed=self._seed,
            rank=self.processes.share,
            world_size=self.processes.shares,
        )
        return _not_empty(loader, "train.dataloader")

    def _build_dataloader_with_dataset(self, dataset: Any, **section: Any) -> DataLoader[Any]:
        """A training loader of other data, for loops of the user's own: with the keys of ``train.dataloader``."""
        collate, seed = self.train_data_collator, section.pop("seed", self._seed)
        return build_loader(dataset, loader_plan(section, shuffle=True), collate_fn=collate, seed=seed)

    def get_eval_data_loader(self) -> DataLoader[Any]:
        """The evaluation data loader."""
        if self.eval_dataset is None:
            self.eval_dataset = self.build_dataset(None, "val", self.eval_preprocessor)
        dataset = _needed(self.eval_dataset, "eval_dataset", "dataset.val")
        loader = build_loader(
            dataset,
            self.plan.eval_loader,
            collate_fn=self.eval_data_collator,
            sampler=self._samplers["val"],
            seed=self._seed,
            rank=self.processes.share,
            world_size=self.processes.shares,
            once=True,
            key="evaluation.dataloader",
        )
        return _not_empty(loader, "evaluation.dataloader")

    def make_eval_dataloader(self) -> None:
        """Make the evaluation loader; once."""
        if self.eval_dataloader is None:
            self.eval_dataloader = self.get_eval_data_loader()

    def get_predict_dataloader(self, predict_datasets: Any) -> DataLoader[Any]:
        """The data loader of a prediction: as for evaluation, in the order of the data."""
        dataset = self.build_dataset(predict_datasets, "val", self.eval_preprocessor)
        dataset = _needed(dataset, "predict_datasets", "dataset.val")
        in_order = replace(self.plan.eval_loader, shuffle=False, drop_last=False)
        return build_loader(
            dataset,
            in_order,
            collate_fn=self.eval_data_collator,
            seed=self._seed,
            rank=self.processes.share,
            world_size=self.processes.shares,
            once=True,
            key="evaluation.dataloader",
        )

    def _evaluates(self) -> bool:
        """Whether there are evaluations during training."""
        return any(hook.type == "EvaluationHook" for hook in self.plan.hooks)

    def _check_lengths(self) -> None:
        """Refuse to train on, or evaluate in between on, data without a length whose iterations nobody counts.

        Raises:
            ConfigError: They need ``train_iters_per_epoch`` or ``val_iters_per_epoch``.
        """
        evaluated = self.eval_dataset if self._evaluates() else None
        counted = (
            (self.train_dataset, self.plan.train_iters_per_epoch, "train", "train_iters_per_epoch"),
            (evaluated, self.plan.val_iters_per_epoch, "evaluation", "val_iters_per_epoch"),
        )
        problems = [
            Problem(
                f"{section}.{key}",
                f"not given, and the data set ({type(dataset).__name__}) has no length",
                "an integer of 1 or more",
                fix=f"add {key} to the {section} section, or pass {key}=N",
                kind="missing",
            )
            for dataset, given, section, key in counted
            if dataset is not None and given is None and not has_length(dataset)
        ]
        if problems:
            raise ConfigError(problems, self.cfg.filename)


def _needed(dataset: Any, keyword: str, key: str) -> Any:
    if dataset is None:
        raise ConfigError(
            Problem(
                key,
                "there is no data set",
                kind="missing",
                fix=f"pass {keyword}=..., or describe it under `{key}` in the config",
            )
        )
    return dataset


def _not_empty(loader: DataLoader[Any], key: str) -> DataLoader[Any]:
    """The loader, unless its data are known to make no batch.

    Raises:
        ConfigError: They make none.
    """
    dataset: Any = loader.dataset
    dealt = getattr(loader.batch_sampler, "batches", None)  # of which this process may have none
    batches = loader if dealt is None else dealt
    if has_length(dataset) and len(batches) == 0:
        why = " with drop_last" if len(dataset) else ""
        found = f"{len(dataset)} samples make no batch of {batches.batch_size}{why}"
        raise ConfigError(Problem(key, found, fix="use a smaller batch_size_per_gpu, or more data"))
    return loader


def _without_labels(section: Any) -> Any:
    """A data set's section less the list of labels, which the trainer hands on."""
    if isinstance(section, (list, tuple)):
        return [_without_labels(entry) for entry in section]
    return {n: v for n, v in section.items() if n != "labels"} if isinstance(section, Mapping) else section


def by_mode(value: Any, keyword: str) -> dict[str, Any]:
    """``{train, val}`` from one value for both or a mapping with either key, as a keyword of the trainer takes them.

    Raises:
        ConfigError: A mapping with another key, whose value would be lost.
    """
    if not isinstance(value, Mapping):
        return {"train": value, "val": value}
    other = [name for name in value if name not in ("train", "val")]
    if other:
        raise ConfigError([Problem(f"{keyword}.{name}", "no such mode", allowed="train, val") for name in other])
    return {"train": value.get("train"), "val": value.get("val")}


def _distinguishable(labels: Labels, task: Task | None) -> Labels:
    """The labels, unless there is nothing to tell apart by them.

    Raises:
        ConfigError: One is listed twice, so that one of its numbers stands for nothing; or there is one alone, to which
            transformers would fit a number.
    """
    names = list(labels.id2label.values())
    same = sorted({name for name in names if names.count(name) > 1})
    if same:
        found = f"the list has {', '.join(map(repr, same))} more than once"
        raise ConfigError(Problem("dataset.train.labels", found, fix="list each label once"))
    if task is not None and task.classes and task.head and len(labels) == 1:
        found = f"{labels.names[0]!r} is the only label: there is nothing to tell apart"
        fix = "list every label under dataset.train.labels; numbers to learn are of the task text-regression"
        raise ConfigError(Problem("dataset.train.label", found, fix=fix))
    return labels
