"""The number format of a run: what of it this device has, and the loss scale of 16-bit mixed precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import lightning as L
import torch
from lightning.pytorch.plugins.precision import HalfPrecision, MixedPrecision, Precision

from adapter.plan import Plan


def settle_precision(trainer: L.Trainer, plan: Plan, asked: str | int | None) -> None:
    """Put the loss scaler of the plan into a trainer; on a CPU, 32 bits in place of 16.

    A strategy with a precision plugin of its own keeps it.

    Args:
        trainer: Made with the plan's precision, or with the one that was asked for.
        plan: Its precision is that of the hooks.
        asked: The user's own ``precision`` for Lightning, which is taken at its word on a CPU, too: 16-mixed is slow
            there, but the numbers are those of a GPU's format. None without one.
    """
    plugin, device = trainer.precision_plugin, trainer.strategy.root_device.type
    if type(plugin) not in (MixedPrecision, HalfPrecision):
        return
    if asked is None and device == "cpu" and plan.precision.startswith("16"):
        trainer.strategy.precision_plugin = Precision()
    elif str(asked or plan.precision) in ("16", "16-mixed"):
        trainer.strategy.precision_plugin = MixedPrecision("16-mixed", device, loss_scaler(plan.loss_scale, device))


def loss_scaler(loss_scale: float | Mapping[str, Any], device: str) -> torch.amp.GradScaler:
    """The scaler for a fixed loss scale, or for arguments of ``torch.amp.GradScaler``."""
    if isinstance(loss_scale, Mapping):
        return torch.amp.GradScaler(device, **loss_scale)
    return FixedScaler(device, float(loss_scale))


class FixedScaler(torch.amp.GradScaler):
    """Skips steps whose gradients are not finite, but never changes its scale.

    Args:
        device: Type of the device (``cuda``).
        loss_scale: The scale.
    """

    def __init__(self, device: str, loss_scale: float) -> None:
        super().__init__(device, init_scale=loss_scale)
        self.loss_scale = loss_scale

    def update(self, new_scale: float | torch.Tensor | None = None) -> None:
        """Go on with the same scale."""
        super().update(self.loss_scale)
