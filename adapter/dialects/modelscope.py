"""The documented schema's own older spelling: hooks in a list, which have keys of their own today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapter.config.config import Config
from adapter.dialects.flat import move_flat_keys
from adapter.dialects.move import Move, has_room

DEFAULT_HOOKS: tuple[Mapping[str, Any], ...] = (
    {"type": "CheckpointHook", "interval": 1},
    {"type": "TextLoggerHook", "interval": 10},
    {"type": "IterTimerHook"},
)
# Hook in the list -> the key that holds its arguments today. One of each: the last in the list wins.
HOOK_KEYS = {
    "CheckpointHook": "train.checkpoint.period",
    "BestCkptSaverHook": "train.checkpoint.best",
    "TextLoggerHook": "train.logging",
    "EvaluationHook": "evaluation.period",
}


def merge_default_hooks(config: Config) -> None:
    """Add the default hooks to ``train.hooks``, in place: whole ones, or what the user's leave out."""
    if config.get("train") is None:
        config.train = {}
    train = config.train
    if not isinstance(train, dict) or not isinstance(train.get("hooks") or [], list):
        return  # the checks report it
    hooks = train["hooks"] = train.get("hooks") or []
    for default in DEFAULT_HOOKS:
        same = [hook for hook in hooks if _type_of(hook) == default["type"]]
        for hook in same:
            hook.update({**default, **hook})
        if not same:
            hooks.append(dict(default))
    train["hooks"] = hooks


def put_default_hooks_last(config: Config, original: Config) -> None:
    """Put the default hooks behind those that options add to the list, in place.

    Each hook of the user's then has the number it has for the user, whom errors tell it. When it runs does not change.

    Args:
        config: After ``merge_default_hooks`` and the options.
        original: What the user wrote, with the options.
    """
    hooks, written = config.safe_get("train.hooks"), original.safe_get("train.hooks")
    if isinstance(hooks, list) and isinstance(written, list):
        added = {default["type"] for default in DEFAULT_HOOKS} - {_type_of(hook) for hook in written}
        hooks.sort(key=lambda hook: _type_of(hook) in added)


def move_old_keys(config: Config, original: Config | None = None) -> list[Move]:
    """Move old spellings to the documented keys, in place; says what became of each.

    Args:
        config: After ``merge_default_hooks``.
        original: Before it, so that a hook the user wrote like a default one is known for the user's.
    """
    written = original.safe_get("train.hooks") if original is not None else None
    types = {_type_of(hook) for hook in written} if isinstance(written, list) else set()
    return [*move_flat_keys(config), *_move_hooks(config, types)]


def _move_hooks(config: Config, written: set[str]) -> list[Move]:
    """Take the hooks that have a key of their own out of ``train.hooks``; ``written`` are types the user listed."""
    hooks = config.safe_get("train.hooks")
    if not isinstance(hooks, list):
        return []
    moves: dict[int, Move] = {}
    taken = {key: f"{key} is given too, and wins" for key in HOOK_KEYS.values() if config.safe_get(key) is not None}
    for index, hook in reversed(list(enumerate(hooks))):
        key, default = HOOK_KEYS.get(_type_of(hook), ""), hook in DEFAULT_HOOKS and _type_of(hook) not in written
        if key in taken:
            _fill(config.safe_get(key), _default(hook))
            moves[index] = Move(f"train.hooks[{index}]", "", "dropped", taken[key], default)
        elif key and has_room(config, key):
            config.merge_from_dict({key: {name: value for name, value in hook.items() if name != "type"}})
            taken[key] = f"a later {hook['type']} in the list wins"
            moves[index] = Move(f"train.hooks[{index}]", key, "moved", default=default)
    kept = [index for index in range(len(hooks)) if index not in moves]
    config.train.hooks = [hooks[index] for index in kept]
    moves |= {
        old: Move(f"train.hooks[{old}]", f"train.hooks[{new}]", "same") for new, old in enumerate(kept) if new != old
    }
    return [moves[index] for index in sorted(moves)]


def _default(hook: Any) -> Mapping[str, Any]:
    """The default hook of a hook's type; empty when there is none."""
    return next((default for default in DEFAULT_HOOKS if default["type"] == _type_of(hook)), {})


def _fill(section: Any, default: Mapping[str, Any]) -> None:
    """Give a default hook's arguments to the section that stands for it, where it leaves them out."""
    if isinstance(section, dict):
        section.update({name: value for name, value in default.items() if name not in ("type", *section)})


def _type_of(hook: Any) -> str:
    return str(hook.get("type")) if isinstance(hook, Mapping) else ""
