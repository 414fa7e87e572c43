"""Models and preprocessors that ModelScope's own package builds from a model directory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter.config import Config
from adapter.errors import ConfigError, Problem, reason_of
from adapter.installed import has_modelscope
from adapter.models.directory import architectures, config_in
from adapter.registry import MODELS

if TYPE_CHECKING:
    from torch import nn

PACKAGE = "ms-lightning-adapter[modelscope]"
MODES = {"train": "train", "val": "eval"}  # a mode here -> ModelScope's name of it


def is_modelscopes(section: Mapping[str, Any], model_dir: str | None) -> bool:
    """Whether the ``model`` section names a model that is ModelScope's to build; always False without its package.

    It is when there is a model directory and no model is registered here under the type. An architecture of
    transformers is so only where the directory's own ``configuration.json`` names it.
    """
    kind = section.get("type")
    if model_dir is None or not isinstance(kind, str) or kind in MODELS or "." in kind or not has_modelscope():
        return False
    return kind not in architectures() or _type_in(model_dir) == kind


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

    return OwnConfig(cfg.to_dict())


def _type_in(model_dir: str) -> str | None:
    """The model's type that a directory's config names."""
    path = config_in(model_dir)
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        try:
            section = json.load(file).get("model")
        except (ValueError, AttributeError):  # reported when it is read as the config
            return None
    return section.get("type") if isinstance(section, Mapping) else None
