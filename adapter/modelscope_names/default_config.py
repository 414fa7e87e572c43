"""ModelScope's functions on the hooks of a config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapter.config import Config
from adapter.dialects.modelscope import DEFAULT_HOOKS, HOOK_KEYS, merge_default_hooks, move_old_keys

DEFAULT_HOOKS_CONFIG = {"train.hooks": [dict(hook) for hook in DEFAULT_HOOKS]}


def merge_cfg(cfg: Config) -> None:
    """Add the default hooks to ``train.hooks``, in place."""
    merge_default_hooks(cfg)


def update_cfg(cfg: Config) -> Config:
    """Move hooks of the list to the keys of their own, in place; returns the config."""
    move_old_keys(cfg)
    return cfg


def merge_hooks(cfg: Config) -> list[dict[str, Any]]:
    """Every hook of a config as ``{type, **arguments}``: those of the list, then those with a key of their own."""
    listed = [dict(hook) for hook in cfg.safe_get("train.hooks") or []]
    keyed = {hook: cfg.safe_get(key) for hook, key in HOOK_KEYS.items()}
    return listed + [{"type": hook, **args} for hook, args in keyed.items() if isinstance(args, Mapping)]
