"""RunOptimizerHook: gradients are accumulated within an epoch, not across its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter.hooks.optimizer import OptimizerHook

if TYPE_CHECKING:
    from adapter.runner.trainer import RunTrainer


class RunOptimizerHook(OptimizerHook):
    """Steps every ``cumulative_iters`` iterations of an epoch; gradients that are left over stay for the next epoch.

    Args:
        cumulative_iters: Iterations an optimizer step; the loss is divided by it.
        grad_clip: Arguments of ``torch.nn.utils.clip_grad_norm_``; None leaves the gradients as they are.
        precision: Lightning's name for the number format of the run, which the plan takes from here.
    """

    def __init__(
        self, cumulative_iters: int = 1, grad_clip: Mapping[str, Any] | None = None, precision: str = "32-true"
    ) -> None:
        super().__init__(cumulative_iters, grad_clip)
        self.precision = precision

    def is_step(self, trainer: RunTrainer) -> bool:
        """Whether the optimizer steps in this iteration."""
        return self.every_n_inner_iters(trainer, self.cumulative_iters)
