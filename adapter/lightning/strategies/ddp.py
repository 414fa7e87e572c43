"""DistributedDataParallel: each process has the whole model and a share of each batch."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from lightning.pytorch.strategies import DDPStrategy, DeepSpeedStrategy, Strategy
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from adapter.errors import Problem, nearest
from adapter.lightning.strategies.strategy import RunStrategy
from adapter.registry import STRATEGIES

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

OURS = ("module", "device_ids", "output_device", "process_group", "device_mesh")  # arguments nobody else sets


FIND_UNUSED = {"ddp_find_unused_parameters_true": True, "ddp_find_unused_parameters_false": False}  # Lightning's names


@STRATEGIES.register_module(module_name="ddp")
class DataParallel(RunStrategy):
    """Averages the gradients over the processes; ``plan.parallel`` holds arguments of DistributedDataParallel."""

    @classmethod
    def accepts(cls, asked: Strategy | str) -> bool:
        """Lightning's own, and its names with an argument in them."""
        return (isinstance(asked, DDPStrategy) and not isinstance(asked, DeepSpeedStrategy)) or asked in FIND_UNUSED

    def problems(self, processes: int) -> Iterator[Problem]:
        """Arguments that DistributedDataParallel does not take."""
        allowed = [name for name in inspect.signature(DistributedDataParallel).parameters if name not in OURS]
        for name in self.plan.parallel:
            if name not in allowed:
                found = f"DistributedDataParallel takes no argument '{name}'"
                yield Problem(f"parallel.{name}", found, ", ".join(allowed), nearest(name, allowed))

    def make(self, owner: EpochBasedTrainer) -> Strategy | str:
        """Lightning's, with the trainer's own ``to_parallel`` and evaluation outside the wrapper."""
        if isinstance(self.given, Strategy):
            return self.given
        return WrappedByOwner(owner)

    @property
    def arguments(self) -> dict[str, Any]:
        """The config's, and what Lightning's name for the strategy says, which wins."""
        by_name = {"find_unused_parameters": FIND_UNUSED[self.given]} if isinstance(self.given, str) else {}
        return {**super().arguments, **by_name}

    def before_evaluation(self, owner: EpochBasedTrainer) -> None:
        """Take the main process's buffers, as a training forward does: each process has put its own batches in."""
        if self.arguments.get("broadcast_buffers", True):
            for buffer in owner.model.buffers():
                torch.distributed.broadcast(buffer.view(torch.uint8) if buffer.dtype is torch.bool else buffer, 0)


class WrappedByOwner(DDPStrategy):
    """Lightning's DDP, around the module that the trainer's ``to_parallel`` returns.

    Args:
        owner: The trainer.
    """

    def __init__(self, owner: EpochBasedTrainer) -> None:
        super().__init__()
        self.owner = owner

    def _setup_model(self, model: nn.Module) -> DistributedDataParallel:
        devices = self.determine_ddp_device_ids()
        with torch.cuda.stream(torch.cuda.Stream()) if devices is not None else nullcontext():
            return self.owner.to_parallel(model)

    def validation_step(self, *args: Any, **kwargs: Any) -> Any:
        """Without the wrapper: its forward shares buffers, and the processes may evaluate unequally many batches."""
        assert self.lightning_module is not None
        with self.precision_plugin.val_step_context():
            return self.lightning_module.validation_step(*args, **kwargs)
