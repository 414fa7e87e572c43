"""ConfigHook: a hook of the config, as an entry of ``trainer.callbacks``."""

from __future__ import annotations

from typing import Any

import lightning as L

from adapter.converted.sections import HookEntry
from adapter.converted.text import unmarked


class ConfigHook(L.Callback):
    """Names a hook; ConfigModel runs it, with the others, by their priorities.

    Args:
        type: Registered name of the hook, as ``adapter list hook`` shows it, or an import path.
        args: Its arguments.
        key: Where it stands in the config (``train.optimizer_hook``, ``train.hooks``); empty for the usual place.
    """

    # jsonargparse reads the annotations; Optional and Any are what it takes in every version
    def __init__(self, type: str, args: dict[str, Any] | None = None, key: str = "") -> None:
        self.entry = HookEntry(type, None if args is None else unmarked(args), key)

    @property
    def state_key(self) -> str:
        """One for each hook."""
        return f"{super().state_key}({self.entry.key or self.entry.type})"
