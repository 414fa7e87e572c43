"""From the ``model`` section to a model."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

from adapter.checkpoint import files
from adapter.checkpoint.weights import load_weights
from adapter.errors import REFUSALS, ConfigError, Problem, reason_of
from adapter.models.directory import weights_in
from adapter.models.pretrained import TYPE as TRANSFORMERS
from adapter.registry import MODELS, check_arguments
from adapter.run_log import console_logger


def build_with_weights(model_cfg: Mapping[str, Any], model_dir: str | None) -> nn.Module:
    """As ``build_model``, with the weights that the model directory has; names that do not match are reported.

    A model of transformers reads them itself.

    Raises:
        ConfigError: As ``build_model``; weights that cannot be read, or a shape that does not fit.
    """
    model = build_model(model_cfg, model_dir=model_dir)
    path = next((path for path in weights_in(model_dir) if path.is_file()), None)
    if path is not None and model_cfg.get("type") != TRANSFORMERS:
        _load(model, path)
    return model


def _load(model: nn.Module, path: Path) -> None:
    logger = console_logger()  # the run may still be refused, and nothing written
    logger.info("the model begins with the weights of %s", path)
    try:
        mismatches = load_weights(model, files.load(path, "weights"))
    except ValueError as error:
        raise ConfigError(Problem("model", f"{path}: {' '.join(str(error).split())}", kind="file")) from error
    for mismatch in mismatches:
        logger.warning("%s: %s", path, mismatch)


def build_model(model_cfg: Mapping[str, Any], key: str = "model", model_dir: str | None = None) -> nn.Module:
    """The model that ``{type, **arguments}`` names: a registered class or function, or an import path to a class.

    Args:
        model_cfg: The ``model`` section.
        key: Where it stands in the config, for error messages.
        model_dir: The model directory, for a class whose constructor takes ``model_dir``.

    Raises:
        ConfigError: No type, an unknown one, one that is no module, or arguments it does not take or refuses.
    """
    args = dict(model_cfg)
    name = args.pop("type", None)
    if not isinstance(name, str):
        problem = Problem(
            f"{key}.type",
            "no model type is given",
            allowed="a registered name, or an import path (package.module.Class)",
            fix="add it, or pass the model object to the trainer",
            kind="missing",
        )
        raise ConfigError(problem)
    cls = MODELS.resolve(name, f"{key}.type")
    if "model_dir" in inspect.signature(cls).parameters:
        args.setdefault("model_dir", model_dir)
    check_arguments(cls, args, key)
    try:
        return cls(**args)
    except ConfigError:
        raise
    except REFUSALS as error:
        raise ConfigError(Problem(key, f"{name} cannot be built: {reason_of(error)}")) from error
