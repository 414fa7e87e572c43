"""RunScheduleHook: the learning rate, set before each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority

if TYPE_CHECKING:
    from adapter.runner.trainer import RunTrainer


class RunScheduleHook(Hook):
    """Asks a registered schedule for the rate of each step, and leaves it to the log.

    Args:
        lr_sched: Name of the schedule.
        init_lr: Rate at the end of the warmup.
        min_lr: Lowest rate after it.
        lr_decay_rate: Factor an epoch, for schedules that have one.
        warmup_lr: Rate of the first step; negative for ``init_lr``.
        warmup_steps: Iterations of the warmup.
        warmup_ratio: The same as a part of all iterations; wins over ``warmup_steps``.
        warmup_scope: ``epoch`` ends the warmup with the first epoch; ``global`` goes on with it.
    """

    PRIORITY = Priority.HIGHEST

    def __init__(
        self,
        lr_sched: str = "constant_lr",
        init_lr: float = 0.0,
        min_lr: float = 0.0,
        lr_decay_rate: float | None = None,
        warmup_lr: float = -1,
        warmup_steps: int = 0,
        warmup_ratio: float | None = None,
        warmup_scope: str = "epoch",
    ) -> None:
        self.lr_sched = lr_sched
        self.init_lr = init_lr
        self.min_lr = min_lr
        self.lr_decay_rate = lr_decay_rate
        self.warmup_lr = warmup_lr
        self.warmup_steps = warmup_steps
        self.warmup_ratio = warmup_ratio
        self.warmup_scope = warmup_scope
        self.schedule: Any = None

    def before_run(self, trainer: RunTrainer) -> None:
        """Build the schedule over the optimizer; say so when the first epoch is too short for its warmup."""
        from adapter.runner.building import accepted
        from adapter.runner.registration import registry
        from adapter.runner.schedules import takes_scope

        steps = self.warmup_steps if self.warmup_ratio is None else int(self.warmup_ratio * trainer.max_iters)
        cls = registry.resolve("lr_scheduler", self.lr_sched, "run.lr_sched")
        offered = {
            "optimizer": trainer.optimizer,
            "max_epoch": trainer.max_epochs,
            "min_lr": self.min_lr,
            "init_lr": self.init_lr,
            "decay_rate": self.lr_decay_rate,
            "warmup_start_lr": self.warmup_lr,
            "warmup_steps": steps,
            "iters_per_epoch": trainer.iters_per_epoch,
            "warmup_scope": self.warmup_scope,
        }
        self.schedule = cls(**accepted(cls, offered))
        if takes_scope(self.schedule) and self.warmup_scope == "epoch" and steps > trainer.iters_per_epoch:
            trainer.logger.warning(
                "the warmup has %d steps, but the first epoch only %d, after which the rate jumps to what the schedule "
                "has for the second; set run.warmup_scope: global to go on with the warmup",
                steps,
                trainer.iters_per_epoch,
            )

    def before_train_iter(self, trainer: RunTrainer) -> None:
        """Set the rates; the log gets that of the first group."""
        self.schedule.step(cur_epoch=trainer.epoch, cur_step=trainer.inner_iter)
        trainer.log_buffer.update({"lr": trainer.optimizer.param_groups[0]["lr"]})
