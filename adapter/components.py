"""Whether what a plan names exists and takes its arguments, before anything is built."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

from adapter.errors import ConfigError, Problem, collect, nearest
from adapter.hooks.build import build_hook
from adapter.hooks.hook import Hook
from adapter.metrics.build import build_metrics
from adapter.optim.build import try_optimizer
from adapter.plan import Plan
from adapter.schedules.build import check_scheduler
from adapter.schema.checks import FOLLOWERS
from adapter.schema.hook_list import HookPlan


def check_components(plan: Plan, optimizers: tuple[Any, Any], own_evaluation: bool = False) -> list[Hook]:
    """Look up optimizer, schedule, metrics and hooks, and see whether they take their arguments.

    Args:
        plan: The plan.
        optimizers: Optimizer and scheduler that are passed in code and stand in for the plan's; None each if not.
        own_evaluation: The evaluation is a subclass's, which may give values of its own beside the metrics'.

    Returns:
        The plan's hooks, in its order.

    Raises:
        ConfigError: Every name that is unknown and every argument that is not taken, at once.
    """
    optimizer, scheduler = optimizers
    hooks: list[Hook] = []
    checks: list[Callable[[], object]] = [lambda: build_metrics(plan.metrics)]
    if not own_evaluation:
        checks.append(partial(_check_followed, plan))
    if optimizer is None and plan.optimizer is not None:
        checks.append(partial(try_optimizer, plan.optimizer))
    if scheduler is None and plan.lr_scheduler is not None:
        checks.append(partial(_check_scheduler, plan))
    checks += [partial(_build_into, hooks, hook) for hook in plan.hooks]
    collect(*checks)
    return hooks


def _check_scheduler(plan: Plan) -> None:
    """Try the schedule over an optimizer like the plan's, where that one can be had."""
    assert plan.lr_scheduler is not None
    trial = None
    if plan.optimizer is not None:
        with contextlib.suppress(ConfigError):  # reported by the optimizer's own check
            trial = try_optimizer(plan.optimizer)
    check_scheduler(plan.lr_scheduler, trial)


def _build_into(hooks: list[Hook], planned: HookPlan) -> None:
    hooks.append(build_hook(planned.type, planned.args, planned.key))


def _check_followed(plan: Plan) -> None:
    """See that what the hooks follow is among the evaluation's values, where the metrics' classes tell those."""
    try:
        told = [vars(type(metric)).get("VALUES") for metric in build_metrics(plan.metrics)]
    except ConfigError:  # reported by the metrics' own check
        return
    if not told or None in told:
        return
    known = list(dict.fromkeys(name for names in told for name in names or ()))
    problems = [
        Problem(
            f"{hook.key}.metric_key",
            f"found '{followed}', which no metric of this evaluation gives",
            ", ".join(known),
            nearest(followed, known),
        )
        for hook in plan.hooks
        if hook.type in FOLLOWERS and (followed := hook.args.get("metric_key")) and followed not in known
    ]
    if problems:
        raise ConfigError(problems)
