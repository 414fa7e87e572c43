"""From the hooks of a plan to objects, and the table that shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapter.errors import REFUSALS, ConfigError, Problem, reason_of
from adapter.hooks.hook import STAGES, Hook
from adapter.hooks.hook_list import HookList
from adapter.hooks.priority import Priority, get_priority
from adapter.registry import HOOKS, check_arguments


def build_hook(type: str, args: Mapping[str, Any], key: str = "") -> Hook:
    """The hook a config names.

    Raises:
        ConfigError: Unknown name, or arguments that the hook refuses.
    """
    cls = HOOKS.resolve(type, f"{key}.type" if key else "type")
    own = dict(args)
    check_arguments(cls, own, key)
    try:
        hook: Hook = cls(**own)
    except ConfigError as error:
        raise ConfigError([_below(problem, key) for problem in error.problems]) from error
    except REFUSALS as error:
        raise ConfigError(Problem(key or type, f"{type} refuses its arguments: {reason_of(error)}")) from error
    return hook


def hook_table(hooks: HookList) -> str:
    """The hooks that act in each stage, in run order, one block a stage."""
    blocks = []
    for stage in STAGES:
        rows = [f"    ({_priority_name(hook):<12}) {type(hook).__name__:<35}" for hook in hooks.in_stage(stage)]
        if rows:
            blocks.append("\n".join([f"Stage: {stage}:", *rows, " " + "-" * 20]))
    return "\n".join(blocks)


def _priority_name(hook: Hook) -> str:
    number = get_priority(hook.PRIORITY)
    return next((priority.name for priority in Priority if priority.value == number), str(number))


def _below(problem: Problem, key: str) -> Problem:
    return replace(problem, key=f"{key}.{problem.key}" if key else problem.key)
