"""BaseModel: what a model of a ``run:`` config has."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from adapter.checkpoint import files
from adapter.config import Config, ConfigDict
from adapter.errors import ConfigError, Problem, nearest, reason_of

LOGGER = logging.getLogger("adapter")
M = TypeVar("M", bound="BaseModel")
NOT_ARGUMENTS = ("arch", "model_type", "load_finetuned", "finetuned", "load_pretrained", "pretrained")


class BaseModel(nn.Module):
    """Base of the models; a subclass defines ``from_config`` and ``train_step``, and ``val_step`` to be evaluated.

    Attributes:
        PRETRAINED_MODEL_CONFIG_DICT: ``model_type`` to a YAML file whose ``model`` section holds the defaults of the
            config's; a relative path starts at the folder of the file that defines the class.
    """

    PRETRAINED_MODEL_CONFIG_DICT: Mapping[str, str] = {}
    weights_asked_for = False  # whether the config's weights have been loaded

    @classmethod
    def from_config(cls: type[M], cfg: Mapping[str, Any]) -> M:
        """The model that a config's ``model`` section describes; its keys, less ``arch``, are arguments by default."""
        return cls(**{key: value for key, value in cfg.items() if key not in NOT_ARGUMENTS})

    @classmethod
    def default_config_path(cls, model_type: str) -> str:
        """The defaults file of a ``model_type``.

        Raises:
            ConfigError: There is no such type.
        """
        known = cls.PRETRAINED_MODEL_CONFIG_DICT
        if model_type not in known:
            found = f"{cls.__name__} has no model_type '{model_type}'"
            allowed = ", ".join(known) or "none"
            raise ConfigError(Problem("model.model_type", found, allowed, nearest(model_type, known), kind="name"))
        return os.path.join(Path(inspect.getfile(cls)).parent, known[model_type])

    @classmethod
    def config_with_defaults(cls, cfg: Mapping[str, Any]) -> ConfigDict:
        """A ``model`` section on top of the defaults that its ``model_type`` has; as it is without any."""
        defaults = ConfigDict()
        if cls.PRETRAINED_MODEL_CONFIG_DICT and cfg.get("model_type") is not None:
            path = cls.default_config_path(str(cfg["model_type"]))
            defaults = ConfigDict(Config.from_file(path).get("model") or {})
        defaults.update(cfg)
        return defaults

    @classmethod
    def from_pretrained(cls: type[M], model_type: str) -> M:
        """The model that the defaults of a ``model_type`` describe."""
        cfg = cls.config_with_defaults({"model_type": model_type})
        model = cls.from_config(cfg)
        model.load_checkpoint_from_config(cfg)
        return model

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.parameters()).device

    def train_step(self, samples: Any) -> tuple[torch.Tensor, dict[str, Any]]:
        """The loss of a batch, a scalar to propagate backward, and what is logged of it by name.

        By default ``forward(samples)`` returns a mapping with ``loss``; every name in it with "loss" is logged.
        """
        output = self(samples)
        return output["loss"], {name: value.detach().clone() for name, value in output.items() if "loss" in name}

    def val_step(self, samples: Any) -> Any:
        """The results of a batch, one entry a sample, as the task's ``after_evaluation`` reads them."""
        raise NotImplementedError(f"{type(self).__name__} must define val_step(samples) to be evaluated")

    def before_evaluation(self, **kwargs: Any) -> None:
        """Runs before each evaluation; ``dataset`` and ``task_type`` are given."""

    def get_optimizer_params(self, weight_decay: float, lr_scale: float = 1) -> list[dict[str, Any]]:
        """Parameter groups of the trained parameters: matrices decay; biases, norms and other vectors do not.

        Override it for rates that differ by layer (see ``layer_decay_groups``).

        Args:
            weight_decay: Of the parameters that decay.
            lr_scale: The config's ``lr_layer_decay``; the schedule multiplies a group's rate by its ``lr_scale``.
        """
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        groups = (
            {"params": [each for each in trained if each.ndim >= 2], "weight_decay": weight_decay},
            {"params": [each for each in trained if each.ndim < 2], "weight_decay": 0},
        )
        return [{**group, "lr_scale": lr_scale} for group in groups if group["params"]]

    def load_checkpoint(self, url_or_filename: str | os.PathLike[str]) -> Any:
        """Load weights from a checkpoint of a run or a plain state dict; names that do not match are passed over.

        Returns:
            What torch found missing and unexpected.

        Raises:
            FileNotFoundError: No such file; nothing is downloaded.
            ValueError: It cannot be loaded, a shape does not fit, or it holds nothing that this model has.
        """
        found = files.load(Path(url_or_filename))
        weights = found.get("model", found) if isinstance(found, Mapping) else None
        known = self.state_dict().keys()
        if not isinstance(weights, Mapping) or (weights and not known & weights.keys()):
            raise ValueError(f"'{url_or_filename}' holds no weight of the model: no name in it is one of the model's")
        try:
            matched = self.load_state_dict(weights, strict=False)
        except RuntimeError as error:
            raise ValueError(f"'{url_or_filename}' does not fit the model: {reason_of(error)}") from error
        LOGGER.info(
            "%d of the model's %d weights are from %s", len(known & weights.keys()), len(known), url_or_filename
        )
        return matched

    def load_checkpoint_from_config(self, cfg: Mapping[str, Any]) -> None:
        """Load the weights that a ``model`` section asks for.

        ``load_finetuned`` with ``finetuned`` wins over ``load_pretrained`` with ``pretrained``; a switch that is left
        out is on when its file is given.

        Raises:
            ConfigError: A switch is on and there is no such file.
        """
        self.weights_asked_for = True
        for name in ("finetuned", "pretrained"):
            path = cfg.get(name)
            if not cfg.get(f"load_{name}", bool(path)):
                continue
            if not path or not Path(path).is_file():
                found = f"no file '{path}'" if path else f"load_{name} is on, and no file is given"
                fix = f"name a file that is here (nothing is downloaded), or set load_{name}: false"
                raise ConfigError(Problem(f"model.{name}", found, fix=fix, kind="missing"))
            self.load_checkpoint(path)
            return

    def show_n_params(self, return_str: bool = True) -> str | int:
        """Number of parameters, as text (``1.5M``) or as an integer."""
        count = sum(parameter.numel() for parameter in self.parameters())
        if not return_str:
            return count
        return f"{count / 1e6:.1f}M" if count >= 1e6 else f"{count / 1e3:.1f}K"
