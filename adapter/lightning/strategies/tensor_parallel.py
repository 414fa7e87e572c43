"""Tensor parallelism: layers are split over the processes of a group, as a plan says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lightning.pytorch.strategies import Strategy
from torch import nn
from torch.distributed.device_mesh import DeviceMesh

from adapter.errors import Problem
from adapter.lightning.strategies.mesh import DATA, TENSOR, MeshStrategy
from adapter.lightning.strategies.tensor_plan import check_plan, plan_of, split
from adapter.plan import Plan
from adapter.registry import STRATEGIES

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

INSTEAD_OF_PIPELINES = (
    "for a model that is too large for one device, raise tensor_model_parallel_size, or use FSDPHook, or DeepspeedHook "
    "with zero_stage 3, in place of MegatronHook"
)
SIZE_KEY = "megatron.tensor_model_parallel_size"


@STRATEGIES.register_module(module_name="tensor_parallel")
class TensorParallel(MeshStrategy):
    """Splits layers over ``tensor_model_parallel_size`` processes.

    Several such groups share the data; the parameters are then sharded over them, as FSDPHook's arguments say.
    """

    def __init__(self, plan: Plan, given: Strategy | str | None = None) -> None:
        super().__init__(plan, given)
        arguments: dict[str, Any] = plan.strategy_args
        self.tensor_size = arguments.get("tensor_model_parallel_size", 1)
        self.table = arguments.get("tensor_parallel_plan") or {}

    def problems(self, processes: int) -> Iterator[Problem]:
        """As many processes as fill whole groups, and no pipeline."""
        yield from super().problems(processes)
        stages = self.plan.strategy_args.get("pipeline_model_parallel_size", 1)
        if stages != 1:
            found = f"found {stages}; a model is not divided into a pipeline of stages here"
            yield Problem("megatron.pipeline_model_parallel_size", found, "1", fix=INSTEAD_OF_PIPELINES)
        if processes % self.tensor_size:
            found = f"found {self.tensor_size}, and {processes} processes"
            fix = f"start a multiple of {self.tensor_size} (--trainer.devices={self.tensor_size})"
            yield Problem(SIZE_KEY, found, "a number that divides that of the processes", fix=fix)

    def check(self, owner: EpochBasedTrainer) -> None:
        """The plan fits the model."""
        super().check(owner)
        check_plan(owner.model, plan_of(owner.model, self.table), self.tensor_size)

    def divide(self, model: nn.Module, mesh: DeviceMesh) -> None:
        """Split the layers; shard what that leaves where several groups share the data."""
        split(model, mesh[TENSOR], plan_of(model, self.table))
        if mesh[DATA].size() > 1:
            self.sharding.apply(model, mesh[DATA])
