"""From the names in a ``run:`` config to objects: processors, data sets, the task."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.utils.data import ConcatDataset

from adapter.config import ConfigDict
from adapter.errors import ConfigError, Problem
from adapter.registry import check_arguments
from adapter.runner.base_dataset import BaseDataset
from adapter.runner.base_model import NOT_ARGUMENTS as NO_MODEL_ARGUMENTS
from adapter.runner.base_model import BaseModel
from adapter.runner.base_processor import BaseProcessor
from adapter.runner.base_task import BaseTask
from adapter.runner.registration import registry

PROCESSOR_KEYS = ("transform", "vis_processor", "text_processor")
NOT_ARGUMENTS = ("name", "sample_ratio", "batch_size")  # of a data set: read elsewhere, or not at all


def load_processor(name: str, cfg: Mapping[str, Any] | None = None, key: str = "") -> BaseProcessor:
    """The processor of a name.

    Args:
        name: As it was registered.
        cfg: Its arguments.
        key: Where the arguments stand in the config, for error messages: beside the name, or below ``cfg``.

    Raises:
        ConfigError: Unknown name, or arguments that it does not take.
    """
    cls = registry.resolve("processor", name, f"{key.removesuffix('.cfg')}.name" if key else "name")
    if not _has_own_from_config(cls, BaseProcessor):
        check_arguments(cls, cfg or {}, key)
    processor: BaseProcessor = cls.from_config(ConfigDict(cfg or {}))
    return processor


def load_dataset(name: str, cfg: Mapping[str, Any] | None = None, key: str = "") -> BaseDataset:
    """The data set of a name; as ``load_processor``."""
    cls = registry.resolve("dataset", name, f"{key}.name" if key else "name")
    if not _has_own_from_config(cls, BaseDataset):
        check_arguments(cls, cfg or {}, key)
    dataset: BaseDataset = cls.from_config(dict(cfg or {}))
    return dataset


def setup_task(config: Mapping[str, Any]) -> BaseTask:
    """The task that ``run.task`` names.

    Raises:
        ConfigError: Unknown name, or a task with a training loop of its own.
    """
    cls = registry.resolve("task", config["run"].get("task"), "run.task")
    refuse_own_loop(cls)
    task: BaseTask = cls.setup_task(**accepted(cls.setup_task, {"cfg": config}))
    return task


def refuse_own_loop(cls: type) -> None:
    """Refuse a task with another training loop than its base.

    Raises:
        ConfigError: It has one.
    """
    base = cls.__mro__[-2]  # the last one is object
    own = [name for name in ("train_epoch", "train_iters") if getattr(cls, name, None) is not getattr(base, name, None)]
    if own:
        found = f"{cls.__name__} has a training loop of its own ({own[0]}), which is not run here"
        fix = "override train_step(model, samples); the loop is Lightning's"
        raise ConfigError(Problem("run.task", found, fix=fix))


def build_model(cfg: Mapping[str, Any]) -> BaseModel:
    """The model of a config's ``model`` section, on top of its ``model_type``'s defaults, with its weights.

    Raises:
        ConfigError: Unknown ``arch`` or ``model_type``, arguments that the model does not take, or weights that are
            not there.
    """
    cls = registry.resolve("model", cfg.get("arch"), "model.arch")
    whole = cls.config_with_defaults(cfg)
    if not _has_own_from_config(cls, BaseModel):
        check_arguments(cls, {key: value for key, value in whole.items() if key not in NO_MODEL_ARGUMENTS}, "model")
    model: BaseModel = cls.from_config(whole)
    if not model.weights_asked_for:
        model.load_checkpoint_from_config(whole)
    return model


def build_splits(config: Mapping[str, Any], splits: Sequence[str], training: bool) -> Any:
    """The data of one split, or of several joined: ``dataset.<split>_cfg``, or all of ``datasets``.

    Args:
        config: The whole config.
        splits: Their names.
        training: Whether the processors for training are taken, or those for evaluation.

    Raises:
        ConfigError: A section or a name that does not exist, or arguments that are not taken.
    """
    if "datasets" not in config:
        return _build_one(config["dataset"][f"{splits[0]}_cfg"], f"dataset.{splits[0]}_cfg", training)
    named = config["datasets"].items()
    parts = [_build_named(name, cfg or {}, split, training) for split in splits for name, cfg in named]
    return parts[0] if len(parts) == 1 else ConcatDataset(parts)


def collator_of(dataset: Any) -> Callable[[list[Any]], Any]:
    """The collator of a data set, or of the first one of several that are joined."""
    first: Any = dataset.datasets[0] if isinstance(dataset, ConcatDataset) else dataset
    collator: Callable[[list[Any]], Any] = first.collator
    return collator


def accepted(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Those of some keyword arguments that a function takes: what older projects define takes fewer."""
    parameters = inspect.signature(function).parameters
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return dict(arguments)
    return {name: value for name, value in arguments.items() if name in parameters}


def _build_one(cfg: Mapping[str, Any], key: str, training: bool) -> BaseDataset:
    arguments = {name: value for name, value in cfg.items() if name not in NOT_ARGUMENTS}
    arguments |= _processors(cfg, key, training)
    return load_dataset(cfg["name"], arguments, key)


def _build_named(name: str, cfg: Mapping[str, Any], split: str, training: bool) -> BaseDataset:
    """One of ``datasets``: the class of that name, which is told the split when it asks for it."""
    key = f"datasets.{name}"
    cls = registry.resolve("dataset", name, key)
    arguments = {item: value for item, value in cfg.items() if item not in NOT_ARGUMENTS}
    arguments |= {**_processors(cfg, key, training), **accepted(cls, {"split": split})}
    return load_dataset(name, arguments, key)


def _processors(cfg: Mapping[str, Any], key: str, training: bool) -> dict[str, BaseProcessor]:
    """The processors of a data set: one for all splits, or one for ``train`` and one for ``eval``."""
    found = {}
    for item in PROCESSOR_KEYS:
        chosen, where = cfg.get(item), f"{key}.{item}"
        if isinstance(chosen, Mapping) and "name" not in chosen:
            mode = "train" if training else "eval"
            chosen, where = chosen.get(mode), f"{where}.{mode}"
        if item in cfg:
            found[item] = _processor(chosen, where)
    return found


def _processor(cfg: Any, key: str) -> BaseProcessor:
    """``{name, cfg: {...}}``, ``{name, **arguments}``, or nothing for one that changes nothing."""
    if not cfg:
        return BaseProcessor()
    if "cfg" in cfg:
        return load_processor(cfg["name"], cfg["cfg"], f"{key}.cfg")
    return load_processor(cfg["name"], {name: value for name, value in cfg.items() if name != "name"}, key)


def _has_own_from_config(cls: Any, base: Any) -> bool:
    """Whether a class reads its config in its own way, rather than as arguments of its constructor."""
    return bool(cls.from_config.__func__ is not base.from_config.__func__)
