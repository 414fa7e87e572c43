"""RunStrategy: what the trainer asks of a strategy, and what a run of one process answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lightning as L
import torch
from lightning.pytorch.strategies import SingleDeviceStrategy, Strategy
from torch import nn

from adapter.checkpoint import shards
from adapter.checkpoint.steppers import load_state, state_of
from adapter.checkpoint.weights import load_weights
from adapter.errors import Problem
from adapter.registry import STRATEGIES

if TYPE_CHECKING:
    from adapter.plan import Plan
    from adapter.trainer import EpochBasedTrainer


@STRATEGIES.register_module(module_name="auto")
class RunStrategy:
    """How the processes of a run share its work; this one leaves it to Lightning.

    The methods are called on every process. Those that say so may communicate.

    Args:
        plan: The run; ``plan.strategy_args`` are the arguments of the hook that asked for the strategy.
        given: The user's own, a name that Lightning knows or a Lightning strategy; None to make one.

    Attributes:
        shards_model: Whether a forward pass needs every process, so that all must evaluate equally many batches.
        replaces_parameters: Whether ``shape`` gives the model other parameters, so that the optimizer comes after it,
            and the model goes to its device by it.
        whole_parameters: Whether each process has every parameter, and steps it with torch's own optimizer.
    """

    shards_model = False
    replaces_parameters = False
    whole_parameters = True

    def __init__(self, plan: Plan, given: Strategy | str | None = None) -> None:
        self.plan = plan
        self.given = given
        self.shards: Path | None = None  # beside the checkpoint that this run goes on from

    @classmethod
    def accepts(cls, asked: Strategy | str) -> bool:
        """Whether a strategy of Lightning's, or its name for one, is this class's to run."""
        return isinstance(asked, SingleDeviceStrategy) or asked == "single_device"

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of DistributedDataParallel; unused parameters are looked for unless the config says not to."""
        return {"find_unused_parameters": True, **self.plan.parallel}

    def precision(self, owner: EpochBasedTrainer) -> str:
        """Lightning's name for the number format, where the user's arguments for it name none."""
        return self.plan.precision

    def problems(self, processes: int) -> Iterator[Problem]:
        """What is wrong with the plan for so many processes; asked before any is started."""
        yield from ()

    def check(self, owner: EpochBasedTrainer) -> None:
        """Refuse a model, or what was passed in code, that does not go with it; asked before any process is started.

        Raises:
            ConfigError: There is something.
        """

    def make(self, owner: EpochBasedTrainer) -> Strategy | str:
        """What goes to ``lightning.Trainer(strategy=...)``; a new one each time.

        Args:
            owner: Its ``model`` may not exist yet.
        """
        return self.given or "auto"

    def groups(self, trainer: L.Trainer) -> dict[str, Any]:
        """Process groups by name (``data_parallel``, ``tensor_model_parallel``), once the processes are connected."""
        return {"data_parallel": torch.distributed.group.WORLD}

    def shares(self, trainer: L.Trainer) -> tuple[int, int]:
        """Which share of the data this process takes, from 0, and how many there are."""
        return trainer.global_rank, trainer.world_size

    def shape(self, model: nn.Module) -> None:
        """Divide the model among the processes, in place; called before each training and evaluation."""

    def before_evaluation(self, owner: EpochBasedTrainer) -> None:
        """Make the model the same on all processes; may communicate."""

    def weights(self, model: nn.Module) -> Mapping[str, Any]:
        """The whole model's weights, complete on the main process at least; may communicate."""
        return model.state_dict()

    def load_weights(self, model: nn.Module, weights: Mapping[str, Any], strict: bool) -> list[str]:
        """Put a whole model's weights into the model; returns a sentence for names that do not match.

        Raises:
            ValueError: A shape that does not fit, or with ``strict`` a name.
        """
        return load_weights(model, weights, strict)

    def gradients(self, model: nn.Module) -> dict[str, torch.Tensor]:
        """Gradients by parameter name, of an accumulation that is under way; may communicate."""
        return {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}

    def load_gradients(self, model: nn.Module, gradients: Mapping[str, torch.Tensor]) -> None:
        """Put back what ``gradients`` returned, after ``load_optimizer_state``."""
        for name, parameter in model.named_parameters():
            gradient = gradients.get(name)
            parameter.grad = None if gradient is None else gradient.to(parameter)
        if self.shards is not None:
            shards.load_gradients(model, self.shards)

    def optimizer_state(self, owner: EpochBasedTrainer, prefix: Path) -> Any:
        """The whole optimizer's state, complete on the main process at least; may communicate.

        Args:
            owner: Its optimizer's.
            prefix: Of the pair that the state goes into; a strategy may write files of its own beside it.
        """
        return state_of(owner.optimizer)

    def load_optimizer_state(self, owner: EpochBasedTrainer, state: Any, prefix: Path) -> None:
        """Put back what ``optimizer_state`` of this or of another strategy returned.

        Raises:
            KeyError: It is of another kind of optimizer.
            ValueError: It is of another model.
        """
        self.shards = shards.folder_of(state, prefix)
        if self.shards is not None:
            shards.load_optimizer(owner.unwrap_module(owner.model), owner.optimizer, state, self.shards)
        else:
            load_state(owner.optimizer, state)

    def clip_gradients(self, parameters: list[nn.Parameter], **arguments: Any) -> None:
        """``torch.nn.utils.clip_grad_norm_`` over the whole model; may communicate."""
        nn.utils.clip_grad_norm_(parameters, **arguments)
