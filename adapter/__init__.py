"""adapter: training configs written for ModelScope's EpochBasedTrainer, unchanged, on PyTorch Lightning."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapter.base_trainer import BaseTrainer
    from adapter.config import Config, ConfigDict
    from adapter.data.from_file import build_dataset_from_file
    from adapter.errors import ConfigError
    from adapter.hooks.hook import Hook
    from adapter.hooks.logger import LoggerHook
    from adapter.hooks.priority import Priority
    from adapter.metrics.metric import Metric
    from adapter.nlp_trainer import NlpEpochBasedTrainer
    from adapter.registry import (
        DATASETS,
        HOOKS,
        LR_SCHEDULER,
        METRICS,
        MODELS,
        OPTIMIZERS,
        PREPROCESSORS,
        TRAINERS,
        Registry,
        build_from_cfg,
    )
    from adapter.trainer import EpochBasedTrainer, build_trainer
    from adapter.training_args import TrainingArgs

# Public name -> the module it lives in; imported when first asked for, so that `import adapter` loads no torch.
_HOMES = {
    "BaseTrainer": "adapter.base_trainer",
    "Config": "adapter.config",
    "ConfigDict": "adapter.config",
    "ConfigError": "adapter.errors",
    "Hook": "adapter.hooks.hook",
    "LoggerHook": "adapter.hooks.logger",
    "Priority": "adapter.hooks.priority",
    "Metric": "adapter.metrics.metric",
    "EpochBasedTrainer": "adapter.trainer",
    "build_trainer": "adapter.trainer",
    "TrainingArgs": "adapter.training_args",
    "NlpEpochBasedTrainer": "adapter.nlp_trainer",
    "build_dataset_from_file": "adapter.data.from_file",
    **dict.fromkeys(
        ("DATASETS", "HOOKS", "LR_SCHEDULER", "METRICS", "MODELS", "OPTIMIZERS", "PREPROCESSORS", "TRAINERS",
         "Registry", "build_from_cfg"),
        "adapter.registry",
    ),
}  # fmt: skip

__all__ = [
    "DATASETS",
    "HOOKS",
    "LR_SCHEDULER",
    "METRICS",
    "MODELS",
    "OPTIMIZERS",
    "PREPROCESSORS",
    "TRAINERS",
    "BaseTrainer",
    "Config",
    "ConfigDict",
    "ConfigError",
    "EpochBasedTrainer",
    "Hook",
    "LoggerHook",
    "Metric",
    "NlpEpochBasedTrainer",
    "Priority",
    "Registry",
    "TrainingArgs",
    "build_dataset_from_file",
    "build_from_cfg",
    "build_trainer",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from adapter.version import package_version

        return package_version()
    if name not in _HOMES:
        raise AttributeError(f"module 'adapter' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
