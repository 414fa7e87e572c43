"""Lightning's DeepSpeedStrategy, with our accumulation, one engine for all of a trainer's runs, and on CPUs too."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from lightning.fabric.utilities.seed import reset_seed
from lightning.pytorch.accelerators import CPUAccelerator
from lightning.pytorch.strategies import DeepSpeedStrategy
from torch import Tensor, nn

from adapter.lightning.strategies import deepspeed_config as settings

if TYPE_CHECKING:
    from adapter.lightning.strategies.deepspeed import DeepSpeed
    from adapter.trainer import EpochBasedTrainer


class EngineStrategy(DeepSpeedStrategy):
    """Runs the trainer's module in DeepSpeed's engine.

    On CPUs the processes talk through gloo. Lightning refuses them, though DeepSpeed trains there; what it takes is
    the first three methods, and ``DS_ACCELERATOR=cpu`` in the environment before DeepSpeed is imported.

    Args:
        run: Keeps the engine.
        owner: The trainer.
        config: DeepSpeed's, complete but for the number of steps.
    """

    def __init__(self, run: DeepSpeed, owner: EpochBasedTrainer, config: dict[str, Any]) -> None:
        super().__init__(config=config, logging_level=logging.ERROR)
        self.run = run
        self.owner = owner
        self._losses: list[Tensor] = []  # of this iteration, all but the last

    @property
    def on_cpu(self) -> bool:
        """Whether the processes compute on CPUs."""
        return isinstance(self.accelerator, CPUAccelerator)

    def setup_environment(self) -> None:
        """Connect the processes; on CPUs past Lightning's test for CUDA devices."""
        if self.on_cpu:
            super(DeepSpeedStrategy, self).setup_environment()
        else:
            super().setup_environment()

    def setup_distributed(self) -> None:
        """On CPUs without Lightning's look at device numbers, and with gloo alone."""
        if not self.on_cpu:
            super().setup_distributed()
            return
        from deepspeed import ops

        ops.__compatible_ops__["deepspeed_shm_comm"] = False  # would be compiled at the first start, for a minute
        reset_seed()
        self.set_world_ranks()
        self._init_deepspeed_distributed()

    @property
    def root_device(self) -> torch.device:
        """This process's device; DeepSpeed wants a number of CPUs too."""
        return torch.device("cpu", 0) if self.on_cpu else super().root_device

    def _format_batch_size_and_grad_accum_config(self) -> None:
        """The config has them; the number of steps is known now that there are data."""
        assert isinstance(self.config, dict)
        owner, accumulated = self.owner, self.config["gradient_accumulation_steps"]
        if settings.asks_for_steps(self.config):
            settings.fill_steps(self.config, warmup_iterations(owner) // accumulated, owner.max_iters // accumulated)

    def _initialize_deepspeed_train(self, model: nn.Module) -> None:
        """Wrap the model once; a later run goes on with the same engine."""
        if self.run.engine is None:
            super()._initialize_deepspeed_train(model)
            own = self.lr_scheduler_configs[0].scheduler if self.lr_scheduler_configs else None
            self.run.take(self.model, own)
        self.model, self.optimizers, self.lr_scheduler_configs = self.run.engine, [self.run.engine.optimizer], []
        self.owner.optimizer = self.run.engine.optimizer

    def _initialize_deepspeed_inference(self, model: nn.Module) -> None:
        """Evaluate in the engine that has trained; without one the model needs none."""
        self.model = self.run.engine or model

    def backward(
        self, closure_loss: Tensor, optimizer: Any, *args: Any, retain_graph: bool = False, **kwargs: Any
    ) -> Tensor:
        """Backward pass through the engine, one an iteration: losses that are not the last wait for it."""
        if retain_graph:
            self._losses.append(closure_loss)
            return closure_loss
        loss = sum(self._losses, closure_loss)
        self._losses = []
        self.run.engine.backward(loss, scale_wrt_gas=False)  # OptimizerHook has divided it
        self.run.accumulating = True
        return closure_loss

    def optimizer_step(self, *args: Any, **kwargs: Any) -> Any:
        """The engine's step: clipping, update, zero gradients, and a schedule of DeepSpeed's own."""
        self.run.accumulating = False
        return super().optimizer_step(*args, **kwargs)

    @contextlib.contextmanager
    def block_backward_sync(self) -> Iterator[None]:
        """Backward passes within are not the last of an accumulation, which the engine has to know before them."""
        engine = self.run.engine
        engine.set_gradient_accumulation_boundary(False)
        try:
            yield
        finally:
            engine.set_gradient_accumulation_boundary(True)

    def teardown(self) -> None:
        """Leave the model on its device: the engine's flat buffers are what its weights lie in."""
        self.precision_plugin.teardown()


def warmup_iterations(owner: EpochBasedTrainer) -> int:
    """Iterations of the run's warmup, which a schedule of DeepSpeed's may ask for."""
    from adapter.hooks.lr_scheduler import LrSchedulerHook

    hook = next((hook for hook in owner.hooks if isinstance(hook, LrSchedulerHook)), None)
    length = (hook.warmup or {}).get("warmup_iters", 0) if hook else 0
    return length * owner.iters_per_epoch if hook and hook.by_epoch else length
