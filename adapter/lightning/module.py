"""TrainingModule: the LightningModule around the user's model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import lightning as L
import torch
from lightning.pytorch.loops.progress import _Progress
from lightning.pytorch.plugins.precision import Precision
from lightning.pytorch.strategies import Strategy
from torch import nn

from adapter.lightning.datamodule import InVain
from adapter.lightning.hook_callback import HookCallback
from adapter.lightning.progress import ProgressBar

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


OWN_CALLBACKS = (HookCallback, ProgressBar)


class TrainingModule(L.LightningModule):
    """Runs the documented training step inside Lightning's loop, with manual optimization.

    The backward pass belongs to a hook (OptimizerHook), which is why it happens in ``training_step``, together with
    every hook up to its priority. The later hooks run in ``on_train_batch_end``, outside a strategy's wrapped forward,
    so that an evaluation in the middle of an epoch is not nested in it.

    Args:
        owner: The trainer whose ``train_step``, ``evaluation_step`` and hooks are run.
        model: The user's model.
    """

    def __init__(self, owner: EpochBasedTrainer, model: nn.Module) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.owner = owner
        self.model = model
        self.exhausted = False  # whether the data ended before this iteration
        self.batches_stay = False
        self.nobody_takes_part = True  # nor does anyone in a loop that is driven by hand
        self.plain_precision = True
        self.progress = _Progress()
        self.scaler: torch.amp.GradScaler | None = None
        self._clip_unscaled: Mapping[str, Any] = {}  # for the step in progress

    def __setattr__(self, name: str, value: Any) -> None:
        # Lightning sets this plain string around every hook, several times an iteration; the general path searches
        # parameters, buffers and modules each time (47 us an iteration).
        if name == "_current_fx_name":
            self.__dict__[name] = value
        else:
            super().__setattr__(name, value)

    # Lightning passes over a module hook that is not callable before it sets anything up for it.
    on_train_batch_start = None  # type: ignore[assignment]
    on_train_batch_end = None  # type: ignore[assignment]

    def configure_model(self) -> None:
        """Divide the model among the processes, where the strategy does."""
        self.owner.strategy.shape(self.model)

    def configure_optimizers(self) -> Any:
        """The trainer's optimizer; its scheduler is stepped by a hook, so Lightning is not told of it."""
        self.owner.register_optimizers_hook()
        found = self.owner.optimizer
        return list(found.values()) if isinstance(found, Mapping) else found

    def training_step(self, dataloader_iter: Iterator[Any]) -> None:
        """One iteration, up to and including the hook that propagates backward.

        Taking the iterator rather than a batch saves Lightning's transfer hooks (90 us an iteration).
        """
        owner = self.owner
        try:
            batch = next(dataloader_iter)[0]
        except StopIteration:  # data without length; Lightning goes on to on_train_batch_end all the same
            self.exhausted = True
            raise
        owner.data_batch = self.to_device(batch)
        owner.begin_iter()
        owner.train_step(owner.model, owner.data_batch)
        if self.plain_precision:
            owner.hooks.run_until_update("after_train_iter", owner)
        else:  # only the forward pass is for 16 bits; a hook's or an optimizer's own matrix products are not
            with torch.autocast(self.device.type, enabled=False):
                owner.hooks.run_until_update("after_train_iter", owner)

    def validation_step(self, dataloader_iter: Iterator[Any]) -> None:
        """One evaluation iteration: forward, and the metrics' ``add``."""
        self.evaluate(next(dataloader_iter)[0])

    def evaluate(self, batch: Any) -> Any:
        """Run a batch of an evaluation or a prediction through the model; returns what the step makes of it."""
        if isinstance(batch, InVain):
            self.owner.evaluation_step(self.to_device(batch.batch))
            return None
        return self.owner.evaluate_batch(self.to_device(batch))

    def setup(self, stage: str) -> None:
        """Settle what would otherwise be asked in every iteration.

        That is: whether batches have to be moved or converted, and whether anyone takes part in a backward pass or an
        optimizer step (a strategy, a precision, another Lightning callback).
        """
        trainer = self.trainer
        self.progress = trainer.fit_loop.epoch_loop.manual_optimization.optim_step_progress
        plain = self.plain_precision = type(trainer.precision_plugin) is Precision
        self.scaler = getattr(trainer.precision_plugin, "scaler", None)
        self.batches_stay = plain and trainer.strategy.root_device.type == "cpu"
        self.nobody_takes_part = (
            plain
            and not hasattr(trainer.strategy, "block_backward_sync")
            and type(trainer.strategy).backward is Strategy.backward
            and type(trainer.strategy).optimizer_step is Strategy.optimizer_step
            and all(isinstance(callback, OWN_CALLBACKS) for callback in trainer.callbacks)  # type: ignore[attr-defined]
        )

    def to_device(self, batch: Any) -> Any:
        """The batch where the model is, in the precision's number format."""
        if self.batches_stay:
            return batch
        return self.trainer.strategy.batch_to_device(self.trainer.precision_plugin.convert_input(batch))

    def propagate(self, loss: torch.Tensor, synchronize: bool, retain_graph: bool) -> None:
        """Backward pass.

        Args:
            loss: Scalar.
            synchronize: Whether the processes share their gradients now (they do in the last iteration of a step).
            retain_graph: Keep the graph for another loss of the same iteration.
        """
        if self.nobody_takes_part:  # what manual_backward comes to then, without its 35 us
            loss.backward(retain_graph=retain_graph)
            return
        with self.synchronization(synchronize):
            self.manual_backward(loss, retain_graph=retain_graph)

    def synchronization(self, wanted: bool) -> AbstractContextManager[None]:
        """A context in which backward passes leave gradients unshared, unless sharing is wanted."""
        block = None if wanted else getattr(self.trainer.strategy, "block_backward_sync", None)
        return block() if block else nullcontext()

    def update(self, optimizer: torch.optim.Optimizer, grad_clip: Mapping[str, Any]) -> None:
        """Clip, step and zero the gradients.

        Args:
            optimizer: The optimizer to step.
            grad_clip: Arguments of ``clip_grad_norm_``; empty for none.
        """
        if self.scaler is not None:
            self._clip_unscaled = grad_clip
        elif grad_clip:
            self.clip(grad_clip)
        if self.nobody_takes_part:  # what Lightning's optimizer wrapper comes to then, without its 40 us
            self.progress.increment_ready()
            optimizer.step()
            self.progress.increment_completed()
        else:
            wrapped = [own for own in self.trainer.strategy._lightning_optimizers if own.optimizer is optimizer]
            wrapped[0].step()
            optimizer._opt_called = True  # type: ignore[attr-defined]  # for the schedule a step that was skipped counts
        zero_grad(optimizer)

    def clip(self, grad_clip: Mapping[str, Any]) -> None:
        """Clip the gradients there are, with arguments of ``clip_grad_norm_``."""
        parameters = [p for p in self.model.parameters() if p.requires_grad and p.grad is not None]
        if parameters:
            self.owner.strategy.clip_gradients(parameters, **grad_clip)

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Clip gradients whose loss scale Lightning has just taken off."""
        if self._clip_unscaled:
            if self.scaler is not None and getattr(optimizer, "_step_supports_amp_scaling", False):
                self.scaler.unscale_(optimizer)  # a fused optimizer would do it within its step, after the clipping
            self.clip(self._clip_unscaled)

    def loss_scale_state(self) -> dict[str, Any]:
        """State of the loss scaler; empty without one."""
        return {} if self.scaler is None else self.scaler.state_dict()

    def load_loss_scale_state(self, state: Mapping[str, Any]) -> None:
        """Put back the state of the loss scaler, where this run has one and the state is of one."""
        if self.scaler is not None and state:
            self.scaler.load_state_dict(dict(state))


def zero_grad(optimizer: torch.optim.Optimizer) -> None:
    """What ``optimizer.zero_grad()`` does, without the profiler record that torch's own makes (15 us)."""
    if type(optimizer).zero_grad is not torch.optim.Optimizer.zero_grad:
        optimizer.zero_grad()
        return
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None
