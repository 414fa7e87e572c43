"""OptimizerHook: backward, gradient accumulation, clipping and the optimizer step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapter.errors import REFUSALS, ConfigError, MissingEntryError, Problem, reason_of
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.registry import HOOKS, check_arguments

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@HOOKS.register_module()
class OptimizerHook(Hook):
    """Turns the losses of an iteration into gradients, and every ``cumulative_iters`` iterations into a step.

    Iterations are counted over the whole run: accumulation goes on across the end of an epoch.

    Args:
        cumulative_iters: Iterations per optimizer step; each loss is divided by it.
        grad_clip: Arguments of ``torch.nn.utils.clip_grad_norm_`` (``max_norm``, ``norm_type``), applied before each
            step; None leaves the gradients as they are.
        loss_keys: Name or names of the losses in the model's output; each is propagated backward.

    Raises:
        ConfigError: Arguments that ``clip_grad_norm_`` refuses.
    """

    PRIORITY = Priority.ABOVE_NORMAL
    RANK = -10

    def __init__(
        self,
        cumulative_iters: int = 1,
        grad_clip: Mapping[str, Any] | None = None,
        loss_keys: str | Sequence[str] = "loss",
    ) -> None:
        self.cumulative_iters = cumulative_iters
        self.grad_clip = dict(grad_clip or {})
        if self.grad_clip:
            _check_grad_clip(self.grad_clip)
        self.loss_keys = [loss_keys] if isinstance(loss_keys, str) else list(loss_keys)

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Start from zero gradients and let the scheduler hook know the length of a step."""
        trainer.optimizer.zero_grad()
        trainer.cumulative_iters = self.cumulative_iters

    def after_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Propagate the losses backward; at the end of an accumulation, clip and step."""
        stepping = self.is_step(trainer)
        outputs = trainer.train_outputs
        for key in self.loss_keys:
            loss = self.loss_of(outputs, key)
            if self.cumulative_iters > 1:
                outputs[key] = loss / self.cumulative_iters
            last = key == self.loss_keys[-1]
            try:
                trainer.backward(outputs[key], synchronize=stepping and last, retain_graph=not last)
            except (AttributeError, RuntimeError) as error:
                _explain(key, outputs[key], error)
                raise
        if stepping:
            trainer.optimizer_step(self.grad_clip)

    @staticmethod
    def loss_of(outputs: Mapping[str, Any], key: str) -> Any:
        """A loss among the model's outputs.

        Raises:
            MissingEntryError: It is not there; says what is.
        """
        if key not in outputs:
            found = f"the model's output has no '{key}' to train on; it has: {', '.join(map(str, outputs))}"
            raise MissingEntryError(Problem("train.optimizer.options.loss_keys", found))
        return outputs[key]

    def is_step(self, trainer: EpochBasedTrainer) -> bool:
        """Whether the optimizer steps in this iteration."""
        return self.every_n_iters(trainer, self.cumulative_iters)


def _explain(key: str, loss: Any, error: Exception) -> None:
    """Raise in words what torch does not say well: a loss that nothing can be trained on."""
    import torch

    if not isinstance(loss, torch.Tensor):
        found = f"is a {type(loss).__name__}, not a tensor"
    elif loss.numel() != 1:
        found = f"has {loss.numel()} values of shape {tuple(loss.shape)}; return their mean, or sum"
    elif not loss.requires_grad:
        found = "does not depend on any parameter that is trained"
    else:
        return
    raise TypeError(f"the model's '{key}' cannot be trained on: it {found}") from error


def _check_grad_clip(grad_clip: Mapping[str, Any]) -> None:
    """Refuse what clips nothing."""
    import torch

    clip = torch.nn.utils.clip_grad_norm_
    check_arguments(clip, grad_clip, "grad_clip", passed=("parameters",))
    parameter = torch.nn.Parameter(torch.zeros(1))
    parameter.grad = torch.ones(1)
    try:
        clip([parameter], **grad_clip)
    except REFUSALS as error:
        raise ConfigError(Problem("grad_clip", f"{clip.__name__} refuses its arguments: {reason_of(error)}")) from error


@HOOKS.register_module()
class NoneOptimizerHook(OptimizerHook):
    """Does nothing: the user's own code propagates backward and steps."""

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Let the scheduler hook know the length of a step."""
        trainer.cumulative_iters = self.cumulative_iters

    def after_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Nothing to do."""
