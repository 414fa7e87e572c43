"""How often a run steps its schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from adapter.errors import ConfigError, Problem
from adapter.hooks.strategy import by_epoch_of

if TYPE_CHECKING:
    from adapter.plan import Plan

STEPPED_BY = ("LrSchedulerHook", "NoneLrSchedulerHook")


def schedule_steps(plan: Plan, max_epochs: int, max_iters: Callable[[], int]) -> int:
    """Steps of the schedule: one an epoch, or one an iteration from the first update on.

    Args:
        plan: The run.
        max_epochs: Its epochs.
        max_iters: Gives its iterations; ValueError when the data have no length.

    Raises:
        ConfigError: It steps by iteration, and nobody knows how many there are.
    """
    options = next((hook.args for hook in plan.hooks if hook.type in STEPPED_BY), {})
    if by_epoch_of("lr_strategy", options.get("lr_strategy"), options.get("by_epoch", True)) is not False:
        return max_epochs
    accumulated = max((hook.args.get("cumulative_iters", 1) for hook in plan.hooks), default=1)
    try:
        return max_iters() - accumulated + 1
    except ValueError as error:
        fix = "give it in iterations, or give train.train_iters_per_epoch"
        problem = Problem("train.lr_scheduler.num_training_steps", f"not given: {error}", fix=fix, kind="missing")
        raise ConfigError(problem) from error
