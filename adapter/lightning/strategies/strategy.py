"""RunStrategy: what the trainer asks of a strategy, and what a run of one process answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import lightning as L
import torch
from lightning.pytorch.strategies import SingleDeviceStrategy, Strategy
from torch import nn

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
    """

    shards_model = False

    def __init__(self, plan: Plan, given: Strategy | str | None = None) -> None:
        self.plan = plan
        self.given = given

    @classmethod
    def accepts(cls, asked: Strategy | str) -> bool:
        """Whether a strategy of Lightning's, or its name for one, is this class's to run."""
        return isinstance(asked, SingleDeviceStrategy) or asked == "single_device"

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of DistributedDataParallel; unused parameters are looked for unless the config says not to."""
        return {"find_unused_parameters": True, **self.plan.parallel}

    def problems(self, processes: int) -> Iterator[Problem]:
        """What is wrong with the plan for so many processes; asked before any is started."""
        yield from ()

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

    def optimizer_state(self, owner: EpochBasedTrainer) -> Any:
        """The whole optimizer's state, complete on the main process at least; may communicate."""
        return owner.optimizer.state_dict()

    def load_optimizer_state(self, owner: EpochBasedTrainer, state: Any) -> None:
        """Put back what ``optimizer_state`` returned.

        Raises:
            KeyError: It is of another kind of optimizer.
            ValueError: It is of another model.
        """
        owner.optimizer.load_state_dict(state)

    def clip_gradients(self, parameters: list[nn.Parameter], **arguments: Any) -> None:
        """``torch.nn.utils.clip_grad_norm_`` over the whole model; may communicate."""
        nn.utils.clip_grad_norm_(parameters, **arguments)
