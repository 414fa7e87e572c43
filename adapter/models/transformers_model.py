"""A model of the transformers library, from a directory or by its name on the hub."""

from __future__ import annotations

import contextlib
import copy
import logging
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from adapter.errors import REFUSALS, ConfigError, Problem, nearest, reason_of
from adapter.models.directory import find_model
from adapter.registry import MODELS
from adapter.run_log import console_logger
from adapter.tasks.task import find_task, known_tasks

NAMES_SHOWN = 5


@MODELS.register_module(module_name="transformers")
def transformers_model(
    path: str,
    task: str | None = None,
    head: str | None = None,
    num_labels: int | None = None,
    id2label: Mapping[Any, str] | None = None,
    label2id: Mapping[str, int] | None = None,
    backbone: Mapping[str, Any] | None = None,
    base_dir: str | Path | None = None,
    **settings: Any,
) -> Any:
    """A model of transformers, the library's own object, in float32; weights that are missing are drawn at random.

    Args:
        path: Directory with ``config.json`` and weights (safetensors or ``.bin``), or a name on transformers' hub.
        task: Decides the head, when ``head`` does not.
        head: Class of transformers to build with, such as ``AutoModelForSequenceClassification``.
        num_labels: Classes; by default what ``id2label``, else the directory, says.
        id2label: Number to name of each class.
        label2id: Name to number of each class.
        backbone: ``type`` has to be the directory's; other values, where the config has such, are settings.
        base_dir: Folder that a relative path starts from; the current one by default.
        settings: Values of the model's config, such as ``hidden_dropout_prob``.

    Raises:
        ConfigError: No such model, one that transformers cannot build for the task, or a setting it does not have.
    """
    import transformers

    place = find_model(path, base_dir)
    names = {"id2label": dict(id2label or {}), "label2id": dict(label2id or {}), "num_labels": num_labels}
    asked = {name: value for name, value in names.items() if value}
    if "id2label" in asked:
        asked.pop("num_labels", None)  # the table says it, and transformers takes one or the other
    known = find_task(task)
    with _quiet(transformers):
        config = _config(transformers, path, place, {**(known.settings if known else {}), **asked})
        own = copy.deepcopy(config)
        _apply(config, backbone or {}, settings)
        model, info = _load(_class(transformers, head, task, config), place, config, path)
        _refuse_resized(type(model), own, config, info, path)
    _report(info, path)
    model.config.architectures = [type(model).__name__]  # those of the directory may lack the head
    return model


def _config(transformers: Any, path: str, place: str, asked: Mapping[str, Any]) -> Any:
    try:
        return transformers.AutoConfig.from_pretrained(place, **asked)
    except (OSError, *REFUSALS) as error:
        what = "has no config.json that transformers can read" if os.path.isdir(place) else "cannot be had"
        fix = "give a folder that save_pretrained wrote, or the name of a model on its hub"
        raise ConfigError(Problem("model.path", f"'{path}' {what}: {_short(error)}", fix=fix, kind="file")) from error


def _apply(config: Any, backbone: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Put settings into a model's config."""
    kind = backbone.get("type")
    if kind is not None and kind != config.model_type:
        found = f"found '{kind}', but the model's own config says '{config.model_type}'"
        raise ConfigError(Problem("model.backbone.type", found, allowed=config.model_type))
    known = config.to_dict()
    unknown = [name for name in settings if name not in known]
    if unknown:
        raise ConfigError(
            [
                Problem(
                    f"model.{name}", f"{config.model_type} models have no setting '{name}'", "", nearest(name, known)
                )
                for name in unknown
            ]
        )
    own = {name: value for name, value in backbone.items() if name != "type" and name in known}
    for name, value in {**own, **settings}.items():
        setattr(config, name, value)


def _class(transformers: Any, head: str | None, task: str | None, config: Any) -> Any:
    """The class to build with: the one that is named, else the task's."""
    known = find_task(task)
    name = head or (known.head if known else "")
    if not name:
        tasks = sorted(name for name, task in known_tasks().items() if task.head)
        found = f"nothing says what the model ends in: the task {task!r} is not known"
        fix = "set model.head to a class of transformers, such as AutoModelForSequenceClassification, or name a task"
        raise ConfigError(Problem("model.head", found, ", ".join(tasks), nearest(task, tasks), fix))
    cls = getattr(transformers, name, None)
    if cls is None or not hasattr(cls, "from_pretrained"):
        heads = [each for each in dir(transformers) if each.startswith("AutoModel")]
        found = f"transformers has no model class '{name}'"
        raise ConfigError(Problem("model.head", found, nearest=nearest(name, heads), kind="name"))
    mapping = getattr(cls, "_model_mapping", None)
    if mapping is not None and type(config) not in mapping.keys():  # noqa: SIM118 - a lazy mapping, not iterable itself
        found = f"a {config.model_type} model cannot be built for the task {task!r} ({name})"
        raise ConfigError(Problem("model.head", found, allowed=", ".join(_possible(transformers, config))))
    two_ways = transformers.AutoModelForMaskedLM._model_mapping.keys()
    if name == "AutoModelForCausalLM" and type(config) in two_ways and not getattr(config, "is_decoder", False):
        found = f"a {config.model_type} model reads texts in both directions, so that it sees what it is to write"
        fix = "name a model that writes, such as gpt2, or set model.is_decoder: true"
        raise ConfigError(Problem("model.path", found, fix=fix))
    return cls


def _possible(transformers: Any, config: Any) -> list[str]:
    """The tasks that a model can be built for."""
    classes = {name: getattr(transformers, task.head, None) for name, task in known_tasks().items() if task.head}
    return sorted(name for name, cls in classes.items() if cls and type(config) in cls._model_mapping.keys())  # noqa: SIM118


def _load(cls: Any, place: str, config: Any, path: str) -> tuple[Any, Mapping[str, Any]]:
    """The model and what became of its weights."""
    try:
        return cls.from_pretrained(
            place, config=config, output_loading_info=True, ignore_mismatched_sizes=True, dtype=torch.float32
        )
    except (OSError, *REFUSALS) as error:
        raise ConfigError(Problem("model.path", f"'{path}' cannot be loaded: {_short(error)}", kind="file")) from error


def _refuse_resized(cls: Any, own: Any, config: Any, info: Mapping[str, Any], path: str) -> None:
    """Refuse settings that leave no room for weights: what was learned would be lost.

    Args:
        cls: The model's class.
        own: The config of the directory.
        config: The same with the settings.
        info: What became of the weights.
        path: The directory.
    """
    names = [item[0] for item in info.get("mismatched_keys") or ()]
    before, after = own.to_dict(), config.to_dict()
    changed = [name for name in after if names and after[name] != before.get(name)]
    shapes = _shapes(cls, own) if changed else {}
    problems = []
    for setting in changed:
        alone = copy.deepcopy(own)
        setattr(alone, setting, after[setting])
        other = _shapes(cls, alone)
        if any(other.get(name) != shapes.get(name) for name in names):
            found = f"found {after[setting]!r}, but the weights of '{path}' are those of {before.get(setting)!r}"
            problems.append(Problem(f"model.{setting}", found, fix="leave the key out, or name another model"))
    if problems:
        raise ConfigError(problems)


def _shapes(cls: Any, config: Any) -> dict[str, torch.Size]:
    """The shape of each weight, without making them; nothing for a config that no model can be built with."""
    try:
        with torch.device("meta"):
            return {name: value.shape for name, value in cls(config).state_dict().items()}
    except REFUSALS:
        return {}


def _report(info: Mapping[str, Any], path: str) -> None:
    """Say which weights were not found, do not fit, or are not used."""
    logger = console_logger()
    for what, key in (
        ("are not in {path} and are drawn at random", "missing_keys"),
        ("of {path} have another shape and are drawn at random", "mismatched_keys"),
        ("of {path} are not in the model", "unexpected_keys"),
    ):
        names = sorted(item if isinstance(item, str) else item[0] for item in info.get(key) or ())
        if names:
            logger.warning("%d weights %s: %s", len(names), what.format(path=path), _shown(names))


def _shown(names: Sequence[str]) -> str:
    rest = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + rest


def _short(error: BaseException) -> str:
    """The first sentence of what may be a long text."""
    return reason_of(error)[:300] if isinstance(error, Exception) else str(error)


@contextlib.contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Keep the library's bars and tables off the console; what is in them is reported in one line each."""
    level = transformers.logging.get_verbosity()
    bars = transformers.utils.logging.is_progress_bar_enabled()
    transformers.logging.set_verbosity(logging.CRITICAL)
    transformers.utils.logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers.logging.set_verbosity(level)
        if bars:
            transformers.utils.logging.enable_progress_bar()
