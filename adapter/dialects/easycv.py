"""EasyCV's spelling of how the optimizer and the schedule step: a complete hook beside them.

A run takes these keys as they are. Rewriting a config moves what has a place in the documented ``options``; a hook of
another class (mixed precision, plateau, the user's own) has none and stays.
"""

from __future__ import annotations

from collections.abc import Mapping

from adapter.config.config import Config
from adapter.dialects.move import Move

# Old key, the hook that does what the options do, the section that has the options.
STEPPING = (
    ("train.optimizer_hook", "OptimizerHook", "train.optimizer"),
    ("train.lr_scheduler_hook", "LrSchedulerHook", "train.lr_scheduler"),
)


def move_stepping_hooks(config: Config) -> list[Move]:
    """Move the hooks that only say what ``options`` say, in place; such a hook wins over options that are there."""
    return [move for key, hook_type, section in STEPPING for move in _moved(config, key, hook_type, section)]


def _moved(config: Config, key: str, hook_type: str, section: str) -> list[Move]:
    hook, target = config.safe_get(key), config.safe_get(section)
    if not isinstance(hook, Mapping) or hook.get("type") != hook_type or not isinstance(target, dict):
        return []
    dropped = [Move(f"{section}.options", "", "dropped", f"{key} wins")] if target.get("options") else []
    target["options"] = {name: value for name, value in hook.items() if name != "type"}
    config.train.pop(key.rpartition(".")[2])
    return [*dropped, Move(key, f"{section}.options", "moved")]
