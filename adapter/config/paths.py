"""Dotted key paths: ``train.hooks[1].type``, ``train.hooks.CheckpointHook.interval``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Step = str | int
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
_PART = re.compile(r"(.*?)((?:\[\d+\])*)", re.DOTALL)


def steps(path: str) -> list[Step]:
    """The steps of a path: names, and integers for ``[i]``."""
    found: list[Step] = []
    for part in path.split("."):
        match = _PART.fullmatch(part)
        name, indexes = match.groups() if match else (part, "")
        found += [name] if name or not indexes else []
        found += [int(index) for index in re.findall(r"\d+", indexes)]
    return found


def child(path: str, step: object) -> str:
    """The path one step further: ``[i]`` for an integer, else ``.name``."""
    if isinstance(step, int) and not isinstance(step, bool):
        return f"{path}[{step}]"
    return f"{path}.{step}" if path else str(step)


def find(tree: Any, path: str, type_field: str = "type") -> Any:
    """The value at a path, or MISSING; a list is entered by index (``[0]``, ``0``) or by an entry's type."""
    for step in steps(path):
        if isinstance(tree, Mapping):
            tree = tree.get(key_in(tree, step), MISSING)
        elif isinstance(tree, (list, tuple)):
            tree = next((tree[i] for i in matches(tree, step, type_field)), MISSING)
        else:
            return MISSING
    return tree


def matches(items: list[Any] | tuple[Any, ...], step: Step, type_field: str = "type") -> list[int]:
    """Indexes of the list entries that a step names: one by number, every one of that type by name."""
    index = as_index(step)
    if index is not None:
        return [index] if index < len(items) else []
    return [i for i, item in enumerate(items) if isinstance(item, Mapping) and item.get(type_field) == step]


def key_in(mapping: Mapping[Any, Any], step: Step) -> Step:
    """The key that a step names: the number ``0`` where the mapping has that and not the text ``"0"``."""
    index = as_index(step)
    return index if index is not None and step not in mapping and index in mapping else step


def as_index(step: object) -> int | None:
    """The number in a list step, ``3`` or ``"3"``; None for a name."""
    text = str(step)
    return int(text) if text.isascii() and text.isdigit() else None


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that holds no further keys, with its path; an empty dict or list is one itself."""
    if isinstance(tree, Mapping) and tree:
        for key, value in tree.items():
            yield from leaves(value, f"{path}.{key}" if path else str(key))
    elif isinstance(tree, (list, tuple)) and tree:
        for index, value in enumerate(tree):
            yield from leaves(value, child(path, index))
    else:
        yield path, tree
