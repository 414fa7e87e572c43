"""What a ``run:`` config names: one registry of models, data, processors, tasks and schedules, and their bases."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from adapter.runner.registration import registry

if TYPE_CHECKING:
    from adapter.runner.base_dataset import BaseDataset
    from adapter.runner.base_model import BaseModel
    from adapter.runner.base_processor import BaseProcessor
    from adapter.runner.base_task import BaseTask
    from adapter.runner.building import load_dataset, load_processor, setup_task
    from adapter.runner.classification import ClassificationTask
    from adapter.runner.image2prompt import Image2PromptTask
    from adapter.runner.layer_decay import layer_decay_groups
    from adapter.runner.project_trainer import Trainer
    from adapter.runner.schedules import RunSchedule

# Public name -> the module it lives in; imported when first asked for, so that names can be looked up without torch.
_HOMES = {
    "BaseDataset": "base_dataset",
    "BaseModel": "base_model",
    "BaseProcessor": "base_processor",
    "BaseTask": "base_task",
    "ClassificationTask": "classification",
    "Image2PromptTask": "image2prompt",
    "RunSchedule": "schedules",
    "Trainer": "project_trainer",
    "layer_decay_groups": "layer_decay",
    "load_dataset": "building",
    "load_processor": "building",
    "setup_task": "building",
}

__all__ = [
    "BaseDataset",
    "BaseModel",
    "BaseProcessor",
    "BaseTask",
    "ClassificationTask",
    "Image2PromptTask",
    "RunSchedule",
    "Trainer",
    "layer_decay_groups",
    "load_dataset",
    "load_processor",
    "registry",
    "setup_task",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'adapter.runner' has no attribute '{name}'")
    return getattr(importlib.import_module(f"adapter.runner.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
