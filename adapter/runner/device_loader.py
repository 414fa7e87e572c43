"""DeviceLoader: a loader's batches where the model is, for tasks with an evaluation of their own."""

from __future__ import annotations

from typing import Any

import torch


class DeviceLoader:
    """The batches of a loader, each moved to a device.

    Args:
        loader: The data loader.
        device: Where the batches go.
    """

    def __init__(self, loader: Any, device: torch.device) -> None:
        self.loader, self.device = loader, device

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Any:
        from lightning.fabric.utilities import move_data_to_device

        return (move_data_to_device(batch, self.device) for batch in self.loader)
