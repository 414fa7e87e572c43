"""FSDP2: each process keeps a shard of the parameters, the gradients and the optimizer's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter.lightning.strategies.mesh import MeshStrategy
from adapter.registry import STRATEGIES

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@STRATEGIES.register_module(module_name="fsdp")
class FullySharded(MeshStrategy):
    """Shards the model over all processes, as FSDPHook's arguments say."""

    def check(self, owner: EpochBasedTrainer) -> None:
        """The model has modules of each class that is named."""
        super().check(owner)
        self.sharding.units(owner.model)
