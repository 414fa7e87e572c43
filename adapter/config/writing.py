"""Writing a config: as JSON or YAML that reads back as the same values, or as the words of a command line."""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from adapter.config import yaml12
from adapter.config.paths import child
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


def to_words(values: Mapping[str, Any], use_hyphen: bool = True) -> list[str]:
    """Values as the words of a command line: ``--train.max-epochs 3 --sizes 1 2 --flag``.

    Args:
        values: Those below others get dotted names, those in a list of mappings ``[i]``; nulls are left out.
        use_hyphen: Write ``_`` in names as ``-``.
    """
    words: list[str] = []
    for path, value in _word_values(portable(values), ""):
        name = path.replace("_", "-") if use_hyphen else path
        items = value if isinstance(value, list) else [] if value is True else [value]
        words += [f"--{name}", *map(str, items)]
    return words


def _word_values(tree: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every value that one name can stand for: a list of plain values is one."""
    if isinstance(tree, list) and not any(isinstance(item, (dict, list)) for item in tree):
        yield path, tree
    elif isinstance(tree, (dict, list)):
        for step, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _word_values(value, child(path, step))
    elif tree is not None:
        yield path, tree


def _key(key: Any) -> Any:
    return key if isinstance(key, (str, int, float)) or key is None else str(key)
