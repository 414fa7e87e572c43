"""A config as a Lightning CLI file: the classes that such a file names."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapter.converted.data import ConfigData
    from adapter.converted.hook import ConfigHook
    from adapter.converted.model import ConfigModel

# Class -> the module it lives in; imported when first asked for: writing a file needs no torch.
_HOMES = {"ConfigData": "data", "ConfigHook": "hook", "ConfigModel": "model"}

__all__ = ["ConfigData", "ConfigHook", "ConfigModel"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'adapter.converted' has no attribute '{name}'")
    return getattr(importlib.import_module(f"adapter.converted.{_HOMES[name]}"), name)
