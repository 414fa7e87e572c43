"""The comments of a YAML text: taken out before its values are changed, and put back where those went.

A comment on lines of its own belongs to the next key below it, one at the end of a line to the outermost key that
starts on that line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

from adapter.config import yaml12

COMMENT = re.compile(r"(?:(?<=\s)|^)#[^\n]*")


@dataclass(frozen=True)
class Remark:
    """A comment.

    Attributes:
        text: With its ``#``.
        key: Path of the key it belongs to; empty for one below the last key.
        above: Whether it stands on a line of its own.
    """

    text: str
    key: str
    above: bool


def taken_out(text: str) -> tuple[str, list[Remark]]:
    """The text without its comments, and the comments."""
    starts = _outermost(text)
    lines = text.splitlines()
    remarks, alone = [], set()
    for number, column, comment in _find(text):
        before = lines[number][:column].rstrip()
        lines[number] = before
        if not before:
            alone.add(number)
            number = min((line for line in starts if line > number), default=-1)
        remarks.append(Remark(comment, starts.get(number, ""), above=not before))
    kept = [line for number, line in enumerate(lines) if number not in alone]
    return "\n".join(kept) + "\n", remarks


def put_back(text: str, remarks: list[Remark], moved: Mapping[str, str]) -> str:
    """The text with its comments; those of a key that is gone are gone too.

    Args:
        text: YAML without comments.
        remarks: The comments, by the keys that the text had.
        moved: Old key path to the new one, empty for what is gone.
    """
    places = {key: line - 1 for key, line in yaml12.read(text).lines.items()}
    lines = text.splitlines()
    above: defaultdict[int, list[str]] = defaultdict(list)
    beside: defaultdict[int, list[str]] = defaultdict(list)
    for remark in remarks:
        key = _new_key(remark.key, places, moved)
        if key or not remark.key:
            (above if remark.above else beside)[places.get(key, len(lines))].append(remark.text)
    written = []
    for number, line in enumerate([*lines, ""]):
        margin = line[: len(line) - len(line.lstrip())]
        written += [margin + comment for comment in above[number]]
        written.append("  ".join([line, *beside[number]]))
    return "\n".join(written).rstrip("\n") + "\n"


def _outermost(text: str) -> dict[int, str]:
    """Line, from 0, to the outermost key that starts there."""
    starts: dict[int, str] = {}
    for key, line in yaml12.read(text).lines.items():
        if len(key) < len(starts.get(line - 1, key + " ")):
            starts[line - 1] = key
    return starts


def _find(text: str) -> Iterator[tuple[int, int, str]]:
    """Line and column, from 0, and text of every comment: what lies between the tokens and begins with ``#``."""
    end = 0
    for token in yaml.scan(text):
        for match in COMMENT.finditer(text, end, token.start_mark.index):
            place = match.start()
            line = text.count("\n", 0, place)
            yield line, place - (text.rfind("\n", 0, place) + 1), match[0].rstrip()
        end = max(end, token.end_mark.index)


def _new_key(key: str, places: Mapping[str, int], moved: Mapping[str, str]) -> str:
    """Where a key, or the nearest one above it that moved with it, stands now; empty when it is gone."""
    for old, new in moved.items():
        if key == old or key.startswith((f"{old}.", f"{old}[")):
            return (new + key[len(old) :] if new + key[len(old) :] in places else new) if new else ""
    return key if key in places else ""
