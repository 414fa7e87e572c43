"""OwnLoop: a task's own evaluation loop, run by Lightning's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adapter.runner.base_task import BaseTask
from adapter.runner.building import accepted
from adapter.runner.device_loader import DeviceLoader


class OwnLoop:
    """Stands in for a loader: asked for its first batch, it lets the task evaluate, and has no batch.

    Args:
        task: Whose ``evaluation`` is run.
        model: The model.
        loader: The batches.

    Attributes:
        results: What the task's loop returned; None before.
    """

    def __init__(self, task: BaseTask, model: Any, loader: DeviceLoader) -> None:
        self.task, self.model, self.loader = task, model, loader
        self.results: Any = None

    def __iter__(self) -> Iterator[Any]:
        own = self.task.evaluation
        cuda = self.loader.device.type == "cuda"
        given = {"model": self.model, "data_loader": self.loader, "cuda_enabled": cuda}
        self.results = own(**accepted(own, given))
        return iter(())
