"""The search for a learning rate and a batch size by Lightning's Tuner, before a run.

The Tuner needs Lightning to make the steps, so it gets a module of its own around the run's model, optimizer and data.
"""

from __future__ import annotations

import contextlib
import copy
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, Any, cast

import lightning as L
import torch
from lightning.pytorch.tuner import Tuner
from torch import Tensor, nn

from adapter.checkpoint import files
from adapter.data.dataset import has_length
from adapter.data.stream import TrainingStream
from adapter.errors import ConfigError, Problem
from adapter.hooks.build import build_hook
from adapter.hooks.optimizer import OptimizerHook
from adapter.lightning.arguments import lightning_arguments
from adapter.lightning.engine import interrupts_kept
from adapter.lightning.precision import settle_precision
from adapter.lightning.quiet import quiet
from adapter.lightning.strategies.strategy import RunStrategy
from adapter.optim.build import build_optimizer
from adapter.schema.search import BATCH_SIZE, LR, SECTIONS, STEPPERS, search_problems
from adapter.trainer_parts import TrainerParts

if TYPE_CHECKING:
    from torch.optim import Optimizer
    from torch.utils.data import DataLoader

    from adapter.trainer import EpochBasedTrainer


class Trial(L.LightningModule):
    """Training as the run does it, by Lightning's automatic optimization: the same steps, without hooks.

    Args:
        owner: The trainer; its train step, optimizer, clipping, accumulation and data are used.
        hook: The hook that makes the run's steps.

    Attributes:
        batch_size: Samples a batch, which the Tuner sets.
    """

    def __init__(self, owner: EpochBasedTrainer, hook: OptimizerHook) -> None:
        super().__init__()
        self.owner, self.hook, self.model = owner, hook, owner.model
        self.batch_size = owner.plan.train_loader.batch_size

    def configure_optimizers(self) -> Optimizer:
        """One of the run's kind; the run's own is made later."""
        assert self.owner.plan.optimizer is not None
        return build_optimizer(self.owner.unwrap_module(self.model), self.owner.plan.optimizer)

    def train_dataloader(self) -> DataLoader[Any]:
        """The run's data in batches of the size that is tried."""
        owner, plan = self.owner, self.owner.plan
        tried = replace(plan.train_loader, batch_size=self.batch_size, drop_last=False)
        owner.plan = replace(plan, train_loader=tried)
        try:
            return owner.get_train_dataloader()
        finally:
            owner.plan = plan

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        """The sum of the losses that the run trains on."""
        self.owner.train_step(self.owner.model, batch)
        losses = [self.hook.loss_of(self.owner.train_outputs, key) for key in self.hook.loss_keys]
        return reduce(add, losses)

    def configure_gradient_clipping(self, *args: Any, **kwargs: Any) -> None:
        """The run's clipping."""
        parameters = [p for p in self.model.parameters() if p.requires_grad and p.grad is not None]
        if self.hook.grad_clip and parameters:
            self.owner.strategy.clip_gradients(parameters, **self.hook.grad_clip)


def refuse(owner: EpochBasedTrainer, processes: int) -> None:
    """Refuse a search that Lightning cannot make for this run.

    Raises:
        ConfigError: Several processes share the run, a strategy does, or a subclass makes the optimizer.
    """
    asked = [key for key in SECTIONS if getattr(owner.plan, key) is not None]
    made = type(owner).create_optimizer_and_scheduler is not TrainerParts.create_optimizer_and_scheduler
    problems = list(search_problems(owner.cfg.train, owner.plan.hooks, made)) if asked else []
    if asked and not problems and (processes > 1 or type(owner.strategy) is not RunStrategy):
        found = "a search is made by one process, without a strategy"
        fix = "let a run of one process find the value: its output/configuration.json has it"
        problems = [Problem(f"train.{key}", found, fix=fix) for key in asked]
    if problems:
        raise ConfigError(problems)


def search(owner: EpochBasedTrainer, checkpoints: Sequence[str] = ()) -> dict[str, Any]:
    """What the plan asks for, by its key in the config: first the batch size, then the rate with batches of that size.

    Model, random states and logged values are afterwards as they were before.

    Args:
        owner: The trainer.
        checkpoints: Those whose weights the run will begin with, in order.

    Raises:
        ConfigError: The losses do not tell which rate is good.
    """
    planned = next(hook for hook in owner.plan.hooks if hook.type in STEPPERS)
    hook = cast(OptimizerHook, build_hook(planned.type, planned.args, planned.key))
    found: dict[str, Any] = {}
    trained = owner.unwrap_module(owner.model)
    with restored(owner), tempfile.TemporaryDirectory() as folder, quiet(), interrupts_kept():
        for checkpoint in checkpoints:  # what they lack is told when the run loads them
            owner.strategy.load_weights(trained, files.load(files.pair(checkpoint)[0]), strict=False)
        trial = Trial(owner, hook)
        if owner.plan.scale_batch_size is not None:
            size = _tuner(trial, folder).scale_batch_size(trial, **owner.plan.scale_batch_size)
            assert size is not None
            samples = len(owner.train_dataset) if has_length(owner.train_dataset) else size
            trial.batch_size = found[BATCH_SIZE] = min(size, samples)
        if owner.plan.lr_find is not None:
            found[LR] = _rate(_tuner(trial, folder).lr_find(trial, update_attr=False, **owner.plan.lr_find))
    return found


def _tuner(trial: Trial, folder: str) -> Tuner:
    """Lightning's Tuner on a Lightning trainer that trains as the run's does, and writes to a folder of its own."""
    owner = trial.owner
    precision = owner.trainer_args.get("precision") or owner.strategy.precision(owner)
    arguments = {
        **lightning_arguments(owner),
        "precision": precision,
        "max_epochs": -1,  # the Tuner counts steps
        "accumulate_grad_batches": trial.hook.cumulative_iters,
        "callbacks": [],
        "profiler": None,
        "enable_progress_bar": False,
        "default_root_dir": folder,
    }
    trainer = L.Trainer(**arguments)
    settle_precision(trainer, owner.plan, owner.trainer_args.get("precision"))
    return Tuner(trainer)


def _rate(finder: Any) -> float:
    """What a search suggests.

    Raises:
        ConfigError: It suggests nothing.
    """
    with quiet():
        rate = finder.suggestion()
    if rate is None:
        found = "too few of the losses are numbers to tell which rate is good"
        raise ConfigError(Problem("train.lr_find", found, fix="set a smaller max_lr, or a larger num_training"))
    return float(rate)


@contextlib.contextmanager
def restored(owner: EpochBasedTrainer) -> Iterator[None]:
    """Put back what a search changes: weights and buffers, the model's device, random states, what was logged."""
    model, device = owner.unwrap_module(owner.model), owner.device
    kept = {name: value.detach().cpu().clone() for name, value in _values(model)}
    data = TrainingStream(owner.get_train_dataloader())  # a sampler of the user's may draw from a generator of its own
    random, logged = data.random_state(), copy.deepcopy(owner.log_buffer.state_dict())
    try:
        yield
    finally:
        model.to(device)  # Lightning leaves it on the CPU
        with torch.no_grad():
            for name, value in _values(model):
                value.copy_(kept[name])
        model.zero_grad()
        owner.log_buffer.load_state_dict(logged)
        owner.train_outputs = owner.data_batch = None
        data.set_random_state(random)


def _values(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    return chain(model.named_parameters(), model.named_buffers())
