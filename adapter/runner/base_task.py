"""BaseTask: what a run does with a batch, and what it makes of an evaluation's results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import torch

    from adapter.runner.base_model import BaseModel

T = TypeVar("T", bound="BaseTask")


class BaseTask:
    """Base of the tasks. Training asks the model; a subclass defines ``after_evaluation`` to be evaluated."""

    @classmethod
    def setup_task(cls: type[T], **kwargs: Any) -> T:
        """The task of a run; ``cfg``, the whole config, is given."""
        return cls()

    def train_step(self, model: BaseModel, samples: Any) -> tuple[torch.Tensor, dict[str, Any]]:
        """The loss of a batch, and what is logged of it by name."""
        return model.train_step(samples)

    def valid_step(self, model: BaseModel, samples: Any) -> Iterable[Any]:
        """The results of a batch, one entry a sample."""
        return model.val_step(samples)

    def before_evaluation(self, model: BaseModel, dataset: Any, **kwargs: Any) -> None:
        """Runs before each evaluation."""
        model.before_evaluation(dataset=dataset, task_type=type(self))

    def evaluation(self, model: BaseModel, data_loader: Iterable[Any], cuda_enabled: bool = True) -> list[Any]:
        """The results of all batches, which are on the model's device.

        Left as it is, the batches come from Lightning's validation loop, with the hooks of its stages.
        """
        return [result for samples in data_loader for result in self.valid_step(model, samples)]

    def after_evaluation(self, val_result: list[Any], epoch: int, **kwargs: Any) -> Mapping[str, Any] | None:
        """What an evaluation comes to: ``{"agg_metrics": the value that decides which checkpoint is best, ...}``.

        None, the default, leaves nothing to log or to compare.
        """
        return None
