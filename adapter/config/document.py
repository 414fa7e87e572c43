"""A config file's values with the line of each key, and the text of a syntax error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from adapter.errors import Problem

MOST_LEVELS = 100  # below Python's recursion limit wherever a config is walked
WINDOW = 90  # characters shown of a long line, such as a JSON file without line breaks


@dataclass(frozen=True)
class Document:
    """A parsed file.

    Attributes:
        values: The top level, a mapping in every valid config.
        lines: Line of each key path (``train.hooks[0].type``), counted from 1; empty for Python files.
    """

    values: Any
    lines: dict[str, int] = field(default_factory=dict)


def syntax_problem(text: str, line: int, column: int, message: str, fix: str = "") -> Problem:
    """A problem of the whole file that shows the offending line; ``line`` and ``column`` count from 1."""
    lines = text.split("\n")
    shown = lines[min(line, len(lines)) - 1].replace("\t", " ")
    start = max(0, column - 1 - WINDOW // 2)
    pointer = " " * (column - 1 - start) + "^"
    found = f"{message} (column {column})\n    {shown[start : start + WINDOW].rstrip()}\n    {pointer}"
    return Problem("", found, fix=fix, line=line, kind="file")


def duplicate_problem(path: str, first: int, second: int) -> Problem:
    """The same key twice in one mapping."""
    found = f"the key is given twice, in lines {first} and {second}"
    return Problem(path, found, fix="remove one of the two", line=second, kind="file")
