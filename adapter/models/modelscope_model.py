"""Models and preprocessors that ModelScope's own package builds from a model directory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.config import Config
from adapter.errors import ConfigError, Problem, reason_of
from adapter.installed import PACKAGE, has_modelscope
from adapter.models.directory import architectures, named_directory, surrounding_directory, type_in
from adapter.registry import MODELS

if TYPE_CHECKING:
    from torch import nn

MODES = {"train": "train", "val": "eval"}  # a mode here -> ModelScope's name of it


def means_modelscopes(section: Mapping[str, Any], model_dir: str | None) -> bool:
    """Whether the ``model`` section names a model that ModelScope builds, whether or not its package is installed.

    It does when there is a model directory and no model is registered here under the type, which is that of the
    directory's own ``configuration.json`` where the section has none. An architecture of transformers is ModelScope's
    only where that file names it.
    """
    if model_dir is None:
        return False
    kind = section.get("type") or type_in(model_dir)
    if not isinstance(kind, str) or kind in MODELS or "." in kind:
        return False
    return kind not in architectures() or type_in(model_dir) == kind


def is_modelscopes(section: Mapping[str, Any], model_dir: str | None) -> bool:
    """Whether the ``model`` section names a model that is ModelScope's to build; always False without its package."""
    return section.get("type") is not None and means_modelscopes(section, model_dir) and has_modelscope()


def directory_of(section: Mapping[str, Any], config_dir: str | Path | None) -> str | None:
    """The model directory that a config itself tells of: ModelScope's at its ``path``, else the config's own folder.

    Args:
        section: The ``model`` section.
        config_dir: The config's folder; None for a config made in code.
    """
    if section.get("path") or section.get("model_dir"):
        named = named_directory(section, config_dir)
        return named if means_modelscopes(section, named) else None
    return surrounding_directory(config_dir) if config_dir is not None else None


def built_by_transformers(section: Mapping[str, Any], model_dir: str | None) -> str:
    """What is to be said when transformers builds a model that ModelScope would, were it installed; else nothing."""
    if has_modelscope() or not means_modelscopes(section, model_dir) or section["type"] not in architectures():
        return ""
    return (
        f"{model_dir} is ModelScope's, whose package is not installed: transformers builds its '{section['type']}'; "
        f"pip install '{PACKAGE}' for ModelScope's own model and preprocessor"
    )


def build_model(model_dir: str, cfg: Config) -> nn.Module:
    """The model of a directory with its weights, through ModelScope's ``Model.from_pretrained``.

    Raises:
        ConfigError: ModelScope cannot build it.
    """
    from modelscope.models import Model

    try:
        return Model.from_pretrained(model_dir, cfg_dict=_own_config(cfg))
    except Exception as error:  # each class of models raises what it likes
        raise ConfigError(Problem("model", f"ModelScope cannot build it: {reason_of(error)}")) from error


def build_preprocessor(model_dir: str, cfg: Config, mode: str, columns: Mapping[str, Any]) -> Any:
    """The preprocessor of a mode, through ModelScope's ``Preprocessor.from_pretrained``; None when it knows none.

    Args:
        model_dir: The model's directory.
        cfg: The config.
        mode: ``train`` or ``val``.
        columns: Arguments for its constructor that win over the config's.

    Raises:
        ConfigError: ModelScope cannot build it.
    """
    from modelscope.preprocessors import Preprocessor

    try:
        return Preprocessor.from_pretrained(
            model_dir, cfg_dict=_own_config(cfg), preprocessor_mode=MODES[mode], **columns
        )
    except Exception as error:  # each class of preprocessors raises what it likes
        raise ConfigError(Problem("preprocessor", f"ModelScope cannot build it: {reason_of(error)}")) from error


def _own_config(cfg: Config) -> Any:
    """A config as an object of ModelScope's class, whose sections are read by attribute there."""
    from modelscope.utils.config import Config as OwnConfig

    return OwnConfig(without_place(cfg.to_dict()))


def without_place(values: dict[str, Any]) -> dict[str, Any]:
    """A config less the place of its model, which is no argument of ModelScope's classes."""
    model = {name: value for name, value in values["model"].items() if name not in ("path", "model_dir")}
    return {**values, "model": model}
