"""TrainerParts: the model of a run and what steps it, each built by a method that a subclass may override."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn
from torch.nn.parallel import DataParallel, DistributedDataParallel

from adapter.config import Config
from adapter.lightning.strategies.strategy import RunStrategy
from adapter.models import modelscope_model
from adapter.models.build import build_with_weights
from adapter.models.pretrained import model_arguments, pretrained_section
from adapter.optim.build import build_optimizer
from adapter.schedules.build import build_scheduler
from adapter.schedules.length import schedule_steps
from adapter.trainer_data import TrainerData
from adapter.tuners import Tuners, add_tuners


class TrainerParts(TrainerData):
    """Builds model, optimizer and schedule from the plan.

    Attributes:
        strategy: How the processes share the work.
        tuners: Name to config of each adapter on the model; empty without any.
        tuners_key: Where they are described, named in errors.
        optimizers: Optimizer and scheduler passed in code, None each when the config's are to be built.
    """

    strategy: RunStrategy
    optimizers: tuple[Any, Any]
    tuners: Tuners
    tuners_key: str
    cfg_modify_fn: Callable[[Config], Any] | None

    @property
    @abstractmethod
    def max_epochs(self) -> int:
        """Epochs of the run."""

    @property
    @abstractmethod
    def max_iters(self) -> int:
        """Iterations of the run; ValueError when the data have no length."""

    def rebuild_config(self, cfg: Config) -> Config:
        """Change the config in code, before overrides; returns the config to use."""
        changed = self.cfg_modify_fn(cfg) if self.cfg_modify_fn else None
        return cfg if changed is None else changed

    def build_model(self) -> nn.Module:
        """The model that the config's ``model`` section names, with the model directory's weights if it has any."""
        if self.model_dir is not None and self.is_modelscopes:
            return modelscope_model.build_model(self.model_dir, self.cfg)
        return build_with_weights(self.model_section(), self.model_dir)

    def model_section(self) -> dict[str, Any]:
        """``{type, **arguments}`` of the model to build, with the task and the labels if its class takes them."""
        section = pretrained_section(self.plan.model, self.model_dir)
        told: dict[str, Any] = {"task": self.plan.task, "base_dir": self.base_dir}
        if self.labels is not None:
            told |= {"num_labels": len(self.labels), "id2label": self.labels.id2label, "label2id": self.labels.label2id}
        return model_arguments(section, told)

    def tune_module(self, efficient_tuners: Tuners) -> None:
        """Put adapters into the model, or the model into them."""
        self.model = add_tuners(self.model, efficient_tuners, self.tuners_key)

    def create_optimizer_and_scheduler(self) -> tuple[Any, Any]:
        """The optimizer and the scheduler: those given to the constructor, else the config's."""
        optimizer, scheduler = self.optimizers
        if optimizer is None and self.plan.optimizer is not None:
            optimizer = build_optimizer(self.unwrap_module(self.model), self.plan.optimizer)
        if scheduler is None and optimizer is not None and self.plan.lr_scheduler is not None:
            length = partial(schedule_steps, self.plan, self.max_epochs, lambda: self.max_iters)
            scheduler = build_scheduler(optimizer, self.plan.lr_scheduler, length)
        return optimizer, scheduler

    def to_parallel(self, model: nn.Module) -> DistributedDataParallel:
        """The module around the model, wrapped for data parallelism; override it to wrap it another way."""
        device = next(model.parameters()).device
        devices = None if device.type == "cpu" else [device]
        return DistributedDataParallel(model, device_ids=devices, **self.strategy.arguments)

    @staticmethod
    def unwrap_module(model: nn.Module) -> nn.Module:
        """The user's model below a parallel wrapper or ``torch.compile``'s."""
        while True:
            if isinstance(model, (DataParallel, DistributedDataParallel)):
                model = model.module
            elif isinstance(inner := getattr(model, "_orig_mod", None), nn.Module):
                model = inner
            else:
                return model

    def get_metrics(self) -> list[str]:
        """Names of the metrics that an evaluation computes."""
        return [component.type for component in self.plan.metrics]

    def visualization(self, batch_result: Any, dataset: Any, **kwargs: Any) -> None:
        """Make images of a batch's results; override it to fill ``visualization_buffer``."""
