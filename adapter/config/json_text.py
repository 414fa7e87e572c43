"""JSON with the line of each key, and keys given twice refused."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from adapter.config.document import MOST_LEVELS, Document, duplicate_problem, syntax_problem
from adapter.config.paths import child
from adapter.errors import ConfigError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],\n]|[^\s{}\[\],:"]+')


@dataclass
class _Open:
    """An object or list that is being read.

    Attributes:
        path: Its path.
        index: Number of the current entry of a list; None in an object.
        before_key: In an object: the next string is a key.
        keys: Line of each key of the object met so far.
    """

    path: str
    index: int | None
    before_key: bool = True
    keys: dict[str, int] = field(default_factory=dict)

    def next_entry(self) -> None:
        self.before_key = True
        self.index = None if self.index is None else self.index + 1

    def key_or_entry(self, token: str, line: int) -> str:
        """Path of the key or list entry that begins with ``token``; empty for the value after a key."""
        if self.index is not None:
            return child(self.path, self.index)
        if not self.before_key:
            return ""
        self.before_key = False
        key = json.loads(token)
        if key in self.keys:
            raise ConfigError(duplicate_problem(child(self.path, key), self.keys[key], line))
        self.keys[key] = line
        return child(self.path, key)


def read(text: str) -> Document:
    """Parse JSON text.

    Raises:
        ConfigError: Not valid JSON, or a key given twice; with its line.
    """
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        fix = "JSON allows no comments and no comma after the last entry; a .yaml file takes both"
        problem = syntax_problem(text, error.lineno, error.colno, f"not valid JSON: {error.msg}", fix)
        raise ConfigError(problem) from error
    return Document(values, key_lines(text))


def key_lines(text: str) -> dict[str, int]:
    """The line of each key path in valid JSON text, counted from 1.

    Raises:
        ConfigError: A key given twice in one object.
        RecursionError: Nested deeper than any config is.
    """
    lines: dict[str, int] = {}
    stack: list[_Open] = []
    line, path = 1, ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        around = stack[-1] if stack else None
        if token == "\n":
            line += 1
        elif around and token in "}]":
            stack.pop()
        elif around and token == ",":
            around.next_entry()
        else:
            if around:
                path = around.key_or_entry(token, line) or path
                lines.setdefault(path, line)
            if token in "{[":
                if len(stack) == MOST_LEVELS:
                    raise RecursionError(f"nested more than {MOST_LEVELS} levels deep")
                stack.append(_Open(path, 0 if token == "[" else None))
    return lines
