"""MeshStrategy: a model shaped over a mesh of processes, those that share the data by those that share a layer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lightning as L
import torch
from lightning.pytorch.strategies import ModelParallelStrategy, Strategy
from torch import distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from adapter.checkpoint import shards
from adapter.errors import ConfigError, Problem
from adapter.hooks.fsdp import FSDPHook
from adapter.lightning.strategies.fully_shard import Sharding
from adapter.lightning.strategies.strategy import RunStrategy
from adapter.optim.clip import clip_gradients
from adapter.plan import precision_key
from adapter.schema.hook_list import HookPlan

if TYPE_CHECKING:
    from adapter.plan import Plan
    from adapter.trainer import EpochBasedTrainer

DATA, TENSOR = "data_parallel", "tensor_parallel"  # names of the mesh's dimensions, as Lightning has them
BOTH_DEVICES = "cpu:gloo,cuda:nccl"


class MeshStrategy(RunStrategy):
    """Runs a model whose parameters are DTensors; a subclass says how they come to be.

    Attributes:
        mesh: Data parallel by tensor parallel; None until the processes are connected.
        tensor_size: Processes that share a layer.
        sharding: How parameters are sharded over the processes that share the data.
    """

    shards_model = True
    replaces_parameters = True
    whole_parameters = False

    def __init__(self, plan: Plan, given: Strategy | str | None = None) -> None:
        super().__init__(plan, given)
        self.mesh: DeviceMesh | None = None
        self.tensor_size = 1
        asking = next((hook for hook in plan.hooks if hook.type == "FSDPHook"), HookPlan("FSDPHook", key="FSDPHook"))
        self.sharding = Sharding(**vars(FSDPHook(**asking.args)), key=asking.key)

    @classmethod
    def accepts(cls, asked: Strategy | str) -> bool:
        """None of Lightning's: the model is shaped here, as the hook's arguments say."""
        return False

    def check(self, owner: EpochBasedTrainer) -> None:
        """The optimizer is made here, over the parameters that the model gets."""
        if owner.optimizers[0] is not None:
            found = "an optimizer made before the model is divided holds parameters that the model loses by it"
            fix = "leave it to the config's train.optimizer, or override create_optimizer_and_scheduler"
            raise ConfigError(Problem("optimizers", found, fix=fix))

    def problems(self, processes: int) -> Iterator[Problem]:
        """Loss scaling does not look for overflows on the other processes."""
        if self.plan.precision == "16-mixed":
            found = "16-mixed scales losses, which does not go with a model that is divided among processes"
            yield Problem(
                precision_key(self.plan), found, "bf16-mixed, bf16-true, 16-true, 32-true", fix="use bf16-mixed"
            )

    def make(self, owner: EpochBasedTrainer) -> Strategy:
        """Lightning's ModelParallelStrategy over this mesh."""
        return OverMesh(self)

    def groups(self, trainer: L.Trainer) -> dict[str, Any]:
        """The groups of the mesh; each process is a pipeline of its own."""
        mesh = self.made_mesh()
        alone, _ = dist.new_subgroups(group_size=1)
        return {
            "data_parallel": mesh[DATA].get_group(),
            "tensor_model_parallel": mesh[TENSOR].get_group(),
            "pipeline_model_parallel": alone,
        }

    def shares(self, trainer: L.Trainer) -> tuple[int, int]:
        """Processes that share a layer take the same share of the data."""
        mesh = self.made_mesh()[DATA]
        return mesh.get_local_rank(), mesh.size()

    def made_mesh(self) -> DeviceMesh:
        """The mesh, once the processes are connected."""
        assert self.mesh is not None
        return self.mesh

    def connect(self, device: str) -> DeviceMesh:
        """The mesh, made at the first call; every process calls it."""
        if self.mesh is None:
            sizes = (dist.get_world_size() // self.tensor_size, self.tensor_size)
            self.mesh = init_device_mesh(device, sizes, mesh_dim_names=(DATA, TENSOR))
        return self.mesh

    def shape(self, model: nn.Module) -> None:
        """Divide a model over the mesh, once."""
        if not is_divided(model):
            self.divide(model, self.made_mesh())

    def divide(self, model: nn.Module, mesh: DeviceMesh) -> None:
        """Turn a whole model's parameters into DTensors, in place."""
        self.sharding.apply(model, mesh[DATA])

    def weights(self, model: nn.Module) -> Mapping[str, Any]:
        """The whole weights on the main process, in its main memory; every process has to take part."""
        from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

        return get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))

    def load_weights(self, model: nn.Module, weights: Mapping[str, Any], strict: bool) -> list[str]:
        """Each process takes its part of whole weights."""
        return super().load_weights(model, shards.divided(weights, model), strict)

    def optimizer_state(self, owner: EpochBasedTrainer, prefix: Path) -> Any:
        """The whole state; of a sharded model the name of the folder that holds it, with the gradients."""
        model = owner.unwrap_module(owner.model)
        if shards.units(model):
            return shards.save_shards(model, owner.optimizer, prefix)
        return shards.whole(owner.optimizer.state_dict())

    def load_optimizer_state(self, owner: EpochBasedTrainer, state: Any, prefix: Path) -> None:
        """Each process takes its part."""
        if shards.KEY in state:
            super().load_optimizer_state(owner, state, prefix)
        else:
            shards.load_whole_optimizer(owner.optimizer, state)

    def gradients(self, model: nn.Module) -> dict[str, torch.Tensor]:
        """Whole gradients; those of a sharded model go into the folder with the optimizer's state."""
        return {} if shards.units(model) else shards.whole(super().gradients(model))

    def load_gradients(self, model: nn.Module, gradients: Mapping[str, torch.Tensor]) -> None:
        """Each process takes its part."""
        super().load_gradients(model, shards.divided(gradients, model))

    def clip_gradients(self, parameters: list[nn.Parameter], **arguments: Any) -> None:
        """By the norm over all processes' parts."""
        clip_gradients(parameters, **arguments)


class OverMesh(ModelParallelStrategy):
    """Lightning's, over a mesh that outlives it, so that training and evaluations after it share one.

    Args:
        run: Makes the mesh and divides the model.
    """

    def __init__(self, run: MeshStrategy) -> None:
        offloads = run.sharding.cpu_offload and torch.cuda.is_available()
        super().__init__(
            tensor_parallel_size=run.tensor_size,
            save_distributed_checkpoint=False,
            process_group_backend=BOTH_DEVICES if offloads else None,
        )
        self.run = run

    def setup_environment(self) -> None:
        """Connect the processes."""
        self._setup_distributed()
        self._device_mesh = self.run.connect(self.root_device.type)

    def setup_optimizers(self, trainer: L.Trainer) -> None:
        """The optimizer is made here, after the model has been divided.

        Raises:
            ConfigError: There are several.
        """
        super().setup_optimizers(trainer)
        if len(self.optimizers) > 1:
            found = f"{len(self.optimizers)} optimizers, and a divided model's checkpoint holds one's state"
            raise ConfigError(Problem("train.optimizer", found, fix="use one, with param_groups, or DDPHook"))

    def model_to_device(self) -> None:
        """Offloaded parameters stay where they are."""
        if not self.run.sharding.cpu_offload:
            super().model_to_device()

    @contextlib.contextmanager
    def block_backward_sync(self) -> Iterator[None]:
        """Backward passes within leave gradients on their processes."""
        model = shards.units(self.run_model())[:1]  # it tells its units; none when only layers are split
        for unit in model:
            unit.set_requires_gradient_sync(False)
        try:
            yield
        finally:
            for unit in model:
                unit.set_requires_gradient_sync(True)

    def on_validation_end(self) -> None:
        """A forward pass without a backward leaves the model's own unit gathered, which hooks would take for it."""
        shards.reshard(self.run_model())

    def run_model(self) -> nn.Module:
        """The user's model."""
        assert self.lightning_module is not None
        return self.lightning_module.model  # type: ignore[return-value]


def is_divided(model: nn.Module) -> bool:
    """Whether a model's parameters, or some of them, lie on a mesh."""
    from torch.distributed.tensor import DTensor

    return any(isinstance(parameter, DTensor) for parameter in model.parameters()) or bool(shards.units(model))
