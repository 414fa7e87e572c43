"""Writing a config: as JSON or YAML that reads back as the same values."""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Mapping
from typing import Any

from adapter.config import yaml12
from adapter.errors import ConfigError, Problem

WRITERS = (".json", ".yaml", ".yml")


def to_text(values: Mapping[str, Any], suffix: str = ".json") -> str:
    """Values as the text of a config file.

    Raises:
        ConfigError: A suffix other than ``.json``, ``.yaml`` and ``.yml``.
    """
    if suffix.lower() not in WRITERS:
        raise ConfigError(Problem("", f"cannot write a config as '{suffix}'", ", ".join(WRITERS), kind="file"))
    plain = portable(values)
    if suffix.lower() == ".json":
        return json.dumps(plain, indent=2, ensure_ascii=False) + "\n"
    return yaml12.write(plain)


def portable(value: Any) -> Any:
    """``value`` in the types a file can hold.

    Tuples and sets become lists, paths text, numpy and torch scalars numbers. What only a program can fill in
    is named, ``<callable:module.name>`` or ``<expr:...>``: any config can be written and says what it lacks.
    """
    if isinstance(value, Mapping):
        return {_key(key): portable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [portable(item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return portable(value.value)
    for plain in (str, int, float):  # numpy's float64 is a subclass of float
        if isinstance(value, plain):
            return plain(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if callable(value):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"<callable:{named.__module__}.{named.__qualname__}>"
    return value.item() if getattr(value, "shape", None) == () else f"<expr:{value!r}>"


def _key(key: Any) -> Any:
    return key if isinstance(key, (str, int, float)) or key is None else str(key)
