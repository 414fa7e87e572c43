"""Learning rates of a run, set before each step: linear warmup, then cosine, steps, or constant."""

from __future__ import annotations

import math
from typing import Any

from torch.optim import Optimizer

from adapter.runner.registration import registry

SCOPES = ("epoch", "global")


class RunSchedule:
    """Base of the schedules: a linear warmup in the first epoch, then ``rate``.

    Args:
        optimizer: A group's rate is multiplied by its ``lr_scale``, when it has one.
        max_epoch: Epochs of the run.
        min_lr: Lowest rate after the warmup.
        init_lr: Rate at the end of the warmup.
        decay_rate: Factor an epoch, for schedules that have one.
        warmup_start_lr: Rate of the first step; negative for ``init_lr``.
        warmup_steps: Iterations of the warmup.
        iters_per_epoch: Iterations of an epoch.
        warmup_scope: ``epoch`` cuts a warmup off at the first epoch's end; ``global`` goes on with it.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_epoch: int,
        min_lr: float,
        init_lr: float,
        decay_rate: float | None = None,
        warmup_start_lr: float = -1,
        warmup_steps: int = 0,
        iters_per_epoch: int = 1,
        warmup_scope: str = "epoch",
    ) -> None:
        self.optimizer = optimizer
        self.max_epoch = max_epoch
        self.min_lr = min_lr
        self.init_lr = init_lr
        self.decay_rate = 1 if decay_rate is None else decay_rate
        self.warmup_start_lr = init_lr if warmup_start_lr < 0 else warmup_start_lr
        self.warmup_steps = warmup_steps
        self.iters_per_epoch = iters_per_epoch
        self.warmup_scope = warmup_scope

    def step(self, cur_epoch: int, cur_step: int) -> None:
        """Set the rates of the next optimizer step; epoch, and iteration within it, count from 0."""
        done = cur_epoch * self.iters_per_epoch + cur_step
        if cur_epoch == 0 or (self.warmup_scope == "global" and done < self.warmup_steps):
            rate = self.warmup(done)
        else:
            rate = self.rate(cur_epoch, cur_step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group.get("lr_scale", 1)

    def warmup(self, step: int) -> float:
        """Rate of the warmup's iteration ``step``, counted from 0; ``init_lr`` once it is over."""
        rise = (self.init_lr - self.warmup_start_lr) * step / max(self.warmup_steps, 1)
        return min(self.init_lr, self.warmup_start_lr + rise)

    def rate(self, cur_epoch: int, cur_step: int) -> float:
        """Rate after the warmup."""
        raise NotImplementedError(f"{type(self).__name__} must define rate(cur_epoch, cur_step)")


@registry.register_lr_scheduler("constant_lr")
class ConstantSchedule(RunSchedule):
    """``init_lr``, after the warmup."""

    def rate(self, cur_epoch: int, cur_step: int) -> float:
        """Rate after the warmup."""
        return self.init_lr


@registry.register_lr_scheduler("linear_warmup_step_lr")
class StepSchedule(RunSchedule):
    """Multiplied by ``decay_rate`` each epoch, not below ``min_lr``."""

    def rate(self, cur_epoch: int, cur_step: int) -> float:
        """Rate after the warmup."""
        return max(self.min_lr, self.init_lr * self.decay_rate**cur_epoch)


@registry.register_lr_scheduler("linear_warmup_cosine_lr")
class CosineSchedule(RunSchedule):
    """Half a cosine from ``init_lr`` to ``min_lr``, a value an epoch."""

    def rate(self, cur_epoch: int, cur_step: int) -> float:
        """Rate after the warmup."""
        return self.cosine(cur_epoch, self.max_epoch)

    def cosine(self, done: int, whole: int) -> float:
        """Rate when ``done`` of ``whole`` is behind."""
        return (self.init_lr - self.min_lr) * 0.5 * (1.0 + math.cos(math.pi * done / whole)) + self.min_lr


@registry.register_lr_scheduler("linear_warmup_cosine_lr_step-wise")
class StepwiseCosineSchedule(CosineSchedule):
    """Half a cosine over the iterations of the whole run; the warmup counts them, too."""

    def step(self, cur_epoch: int, cur_step: int) -> None:
        """Set the rates of the next optimizer step."""
        done = cur_epoch * self.iters_per_epoch + cur_step
        whole = self.max_epoch * self.iters_per_epoch
        rate = self.warmup(done) if done < self.warmup_steps else self.cosine(done, whole)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group.get("lr_scale", 1)


def takes_scope(schedule: Any) -> bool:
    """Whether a schedule ends its warmup with the first epoch, so that a longer one has to be pointed out."""
    return isinstance(schedule, RunSchedule) and not isinstance(schedule, StepwiseCosineSchedule)
