"""fast_dev_run: a run of a few iterations that goes through every stage and leaves nothing to keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from adapter.schema.hook_list import HookPlan

KEEPERS = ("CheckpointHook", "BestCkptSaverHook", "TensorboardHook", "LoggersHook")
AT_ONCE = {
    "EvaluationHook": {"interval": 1, "by_epoch": True},
    "TextLoggerHook": {"interval": 1},
}


def iterations_of(asked: bool | int | None, hooks: Iterable[HookPlan]) -> int:
    """Iterations of such a run: so many as are asked for, those of one optimizer step for True, 0 for none.

    Args:
        asked: What the config, or a keyword, says.
        hooks: Those of the run in earnest, which say how many iterations make a step.
    """
    if asked is True:
        return max(hook.args.get("cumulative_iters", 1) for hook in hooks)
    return asked or 0


def shortened(hooks: Iterable[HookPlan]) -> Iterator[HookPlan]:
    """The hooks of such a run: no checkpoints and no files of loggers, an evaluation at its end, every line logged."""
    for hook in hooks:
        if hook.type in AT_ONCE:
            written = ("out_dir", "ignore_rounding_keys", "rounding_digits")
            kept = {name: value for name, value in hook.args.items() if name in written}
            yield replace(hook, args={**kept, **AT_ONCE[hook.type]})
        elif hook.type not in KEEPERS:
            yield hook
