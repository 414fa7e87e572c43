"""TorchAMPOptimizerHook: 16-bit mixed precision with loss scaling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter.errors import ConfigError, Problem
from adapter.hooks.optimizer import NoneOptimizerHook
from adapter.registry import HOOKS, check_arguments

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@HOOKS.register_module()
class TorchAMPOptimizerHook(NoneOptimizerHook):
    """Asks for Lightning's precision 16-mixed; OptimizerHook, which is registered beside it, propagates and steps.

    Args:
        loss_scale: A fixed loss scale, or arguments of ``torch.amp.GradScaler``, whose defaults hold otherwise.
        kwargs: Arguments of OptimizerHook.

    Raises:
        ConfigError: A loss scale of another kind, or arguments that GradScaler refuses.
    """

    def __init__(self, loss_scale: float | Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.loss_scale = {} if loss_scale is None else loss_scale
        _check_loss_scale(self.loss_scale)

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Say so when the run uses another precision."""
        warn_of_precision(trainer, "16-mixed", type(self).__name__)


def warn_of_precision(trainer: EpochBasedTrainer, asked: str, name: str) -> None:
    """Warn when a run does not use the precision that a hook asks for: on a CPU, or because another was asked for."""
    used = trainer.module.trainer.precision
    if used != asked:
        why = ": there is no GPU" if trainer.device.type == "cpu" and used == "32-true" else ""
        trainer.logger.warning("%s asks for precision %s, but this run trains in %s%s", name, asked, used, why)


def _check_loss_scale(loss_scale: Any) -> None:
    """Refuse what makes no scaler."""
    import torch

    if not isinstance(loss_scale, Mapping):
        if isinstance(loss_scale, bool) or not isinstance(loss_scale, (int, float)) or not loss_scale > 0:
            allowed = "a number above 0, or a mapping of GradScaler's arguments"
            raise ConfigError(Problem("loss_scale", f"found {loss_scale!r}", allowed))
        return
    check_arguments(torch.amp.GradScaler, loss_scale, "loss_scale", passed=("device",))
    try:
        torch.amp.GradScaler("cpu", **loss_scale)
    except (TypeError, ValueError, AssertionError) as error:
        raise ConfigError(Problem("loss_scale", f"GradScaler refuses its arguments: {error}")) from error
