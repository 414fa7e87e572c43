"""TrainingModule: the LightningModule around the user's model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import lightning as L
import torch
from lightning.pytorch.plugins.precision import Precision
from lightning.pytorch.strategies import Strategy
from torch import nn

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


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

    def __setattr__(self, name: str, value: Any) -> None:
        # Lightning sets this plain string around every hook, several times an iteration; the general path searches
        # parameters, buffers and modules each time (47 us an iteration).
        if name == "_current_fx_name":
            self.__dict__[name] = value
        else:
            super().__setattr__(name, value)

    def configure_optimizers(self) -> Any:
        """The trainer's optimizer; its scheduler is stepped by a hook, so Lightning is not told of it."""
        self.owner.register_optimizers_hook()
        return self.owner.optimizer

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
        owner.hooks.run_until_update("after_train_iter", owner)

    def validation_step(self, dataloader_iter: Iterator[Any]) -> None:
        """One evaluation iteration: forward, and the metrics' ``add``."""
        owner = self.owner
        owner.evaluate_batch(self.to_device(next(dataloader_iter)[0]))

    def to_device(self, batch: Any) -> Any:
        """The batch where the model is, in the precision's number format; as it is when nothing has to be done."""
        trainer = self.trainer
        if type(trainer.precision_plugin) is not Precision:
            batch = trainer.precision_plugin.convert_input(batch)
        if trainer.strategy.root_device.type == "cpu":
            return batch
        return trainer.strategy.batch_to_device(batch)

    def propagate(self, loss: torch.Tensor, synchronize: bool, retain_graph: bool) -> None:
        """Backward pass.

        Args:
            loss: Scalar.
            synchronize: Whether the processes share their gradients now (they do in the last iteration of a step).
            retain_graph: Keep the graph for another loss of the same iteration.
        """
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
        if grad_clip:
            parameters = [p for p in self.model.parameters() if p.requires_grad and p.grad is not None]
            if parameters:
                nn.utils.clip_grad_norm_(parameters, **grad_clip)
        if self.steps_plainly():
            # What Lightning's wrapper does around a step that nobody takes part in, without its 40 us.
            progress = self.trainer.fit_loop.epoch_loop.manual_optimization.optim_step_progress
            progress.increment_ready()
            optimizer.step()
            progress.increment_completed()
        else:
            for wrapped in self.trainer.strategy._lightning_optimizers:
                if wrapped.optimizer is optimizer:
                    wrapped.step()
        optimizer.zero_grad()

    def steps_plainly(self) -> bool:
        """Whether neither the strategy nor the precision has a part in an optimizer step."""
        trainer = self.trainer
        return (
            type(trainer.precision_plugin) is Precision
            and type(trainer.strategy).optimizer_step is Strategy.optimizer_step
        )
