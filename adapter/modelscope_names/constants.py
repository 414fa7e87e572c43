"""Names that ModelScope's scripts write instead of strings (``Trainers.default``, ``ModeKeys.TRAIN``)."""

from __future__ import annotations

import json
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

ENUMS = ("DownloadMode", "Hubs")


def __getattr__(name: str) -> Any:
    found = _values().get(name)
    if found is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    if isinstance(found, dict):
        make: Any = Enum if name in ENUMS else _names
        found = make(name, found)
    globals()[name] = found
    return found


def _names(name: str, values: dict[str, Any]) -> type:
    return type(name, (), {"__doc__": f"ModelScope's names of {name}.", **values})


@cache
def _values() -> dict[str, Any]:
    path = Path(__file__).with_name("constants.json")
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return values
