"""ModelScope's base classes of models."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from adapter.checkpoint import files
from adapter.config import Config
from adapter.errors import ConfigError, Problem
from adapter.models.build import build_with_weights
from adapter.models.directory import model_directory
from adapter.modelscope_names.reading import read_config


class Model(ABC):
    """A model that belongs to a directory.

    Args:
        model_dir: The directory; None for a model without one.

    Attributes:
        model_dir: The same.
    """

    def __init__(self, model_dir: str | None = None, *args: Any, **kwargs: Any) -> None:
        self.model_dir = model_dir

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What ``forward`` makes of the arguments, after ``postprocess``."""
        return self.postprocess(self.forward(*args, **kwargs))

    @abstractmethod
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Outputs by name."""

    def postprocess(self, inputs: Any, **kwargs: Any) -> Any:
        """The outputs, changed as the subclass likes."""
        return inputs

    @classmethod
    def from_pretrained(
        cls,
        model_name_or_path: str,
        revision: str | None = None,
        cfg_dict: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> nn.Module:
        """The model of a directory, with its weights.

        Args:
            model_name_or_path: The directory, or the name of one on ModelScope's hub.
            revision: Which version to download.
            cfg_dict: Config in place of the directory's.
            kwargs: Arguments of the model's class, which win over the config's.

        Raises:
            ConfigError: No such directory, or its config names no model that is known here.
        """
        directory = model_directory(model_name_or_path, revision)
        assert directory is not None
        config = Config(cfg_dict) if cfg_dict is not None else read_config(directory)
        section = config.get("model")
        if not isinstance(section, Mapping):
            raise ConfigError(Problem("model", "not given", kind="missing"), config.filename)
        return build_with_weights({**section, **kwargs}, directory)


class TorchModel(Model, nn.Module):
    """A model of torch.

    Args:
        model_dir: The directory; None for a model without one.
    """

    def __init__(self, model_dir: str | None = None, *args: Any, **kwargs: Any) -> None:
        nn.Module.__init__(self)
        Model.__init__(self, model_dir)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the module makes of the arguments, torch's own hooks included, after ``postprocess``."""
        return self.postprocess(nn.Module.__call__(self, *args, **kwargs))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Outputs by name, the loss among them.

        Raises:
            NotImplementedError: The subclass has no forward.
        """
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def save_pretrained(self, target_folder: str | os.PathLike[str], **kwargs: Any) -> None:
        """Write the weights to ``pytorch_model.bin`` in a folder."""
        Path(target_folder).mkdir(parents=True, exist_ok=True)
        torch.save(self.state_dict(), Path(target_folder, files.WEIGHTS_NAME))
