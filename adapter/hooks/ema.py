"""EMAHook: an exponential moving average of the weights, to evaluate and to keep."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from adapter.checkpoint.steppers import each
from adapter.errors import ConfigError, Problem
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from torch import Tensor

    from adapter.trainer import EpochBasedTrainer


@HOOKS.register_module()
class EMAHook(Hook):
    """Averages the trained parameters over the optimizer steps: ``average = decay * average + (1 - decay) * weights``.

    The first step's weights are the first average; steps that a loss scaler skips do not count. Evaluations,
    checkpoints, the output folders and the model at the end of training have the averages; the weights that training
    goes on with are in the trainer state. Buffers, such as those of batch normalization, are the newest ones.

    Args:
        decay: Between 0 and 1; 0.999 averages over the last thousand steps or so.

    Attributes:
        averages: Parameter to its average; empty before the first step and after training.

    Raises:
        ConfigError: A decay that is no such number.
    """

    PRIORITY = Priority.ABOVE_NORMAL  # after a checkpoint is loaded, before anything is saved

    def __init__(self, decay: float = 0.999) -> None:
        if not 0 <= decay < 1:
            raise ConfigError(Problem("decay", f"found {decay!r}", "a number from 0 to 1, less than 1"))
        self.decay = decay
        self.averages: dict[Tensor, Tensor] = {}
        self._names: dict[str, Tensor] = {}
        self._loaded: dict[str, Tensor] = {}
        self._watched: list[Any] = []
        self._swapped = False

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Take part in the optimizer's steps; a resumed run gets its own weights back."""
        self._forget()
        self._names = dict(trainer.unwrap_module(trainer.model).named_parameters())
        for name, weight in self._loaded.items():
            parameter = self._names[name]
            self.averages[parameter] = parameter.detach().clone()
            parameter.data.copy_(weight)
        self._loaded = {}
        self._watched = [optimizer.register_step_post_hook(self._step) for optimizer in each(trainer.optimizer)]

    def _step(self, optimizer: Any, *_: Any) -> None:
        """Average the parameters that an optimizer has stepped."""
        self.update(p for group in optimizer.param_groups for p in group["params"] if p.requires_grad)

    def update(self, parameters: Iterable[Tensor]) -> None:
        """Let the averages of some parameters follow them; one without begins with the parameter's value."""
        from torch.optim.swa_utils import get_ema_multi_avg_fn

        known = []
        for parameter in parameters:
            if parameter in self.averages:
                known.append(parameter)
            else:
                self.averages[parameter] = parameter.detach().clone()
        if known:
            average = get_ema_multi_avg_fn(self.decay)
            average([self.averages[p] for p in known], [p.detach() for p in known], 0)

    @contextlib.contextmanager
    def averaged(self) -> Iterator[None]:
        """Within it, the model has the averages."""
        entered = not self._swapped
        if entered:
            self._swap()
        try:
            yield
        finally:
            if entered:
                self._swap()

    def _swap(self) -> None:
        for parameter, average in self.averages.items():
            weights = parameter.detach().clone()
            parameter.data.copy_(average)
            average.copy_(weights)
        self._swapped = not self._swapped

    def before_val(self, trainer: EpochBasedTrainer) -> None:
        """Evaluate the averages."""
        if not self._swapped:
            self._swap()

    def after_val(self, trainer: EpochBasedTrainer) -> None:
        """Go on with the weights."""
        self._swap()

    def after_run(self, trainer: EpochBasedTrainer) -> None:
        """Leave the averages in the model."""
        self._swap()
        self._swapped = False
        self.averages = {}
        self._forget()

    def _forget(self) -> None:
        """Stop following the optimizers; undo what a run that failed has left."""
        for watched in self._watched:
            watched.remove()
        self._watched = []
        if self._swapped:
            self._swap()

    def state_dict(self) -> dict[str, Any]:
        """The weights that training goes on with, by name; the checkpoint's weights are the averages."""
        own = self.averages if self._swapped else {parameter: parameter.detach() for parameter in self.averages}
        return {"weights": {name: own[parameter] for name, parameter in self._names.items() if parameter in own}}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what ``state_dict`` returned; ``before_run`` puts it into the model."""
        self._loaded = dict(state_dict["weights"])
