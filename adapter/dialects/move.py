"""Move: what became of a key that is spelled in another way than the documented one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from adapter.config.config import Config

MoveFate = Literal["same", "moved", "dropped", "refused"]


@dataclass(frozen=True)
class Move:
    """One key of a foreign spelling.

    Attributes:
        key: Where the user wrote it (``train.hooks[0]``); keys below it go the same way.
        to: The documented key it became; empty when it was dropped or refused.
        fate: ``moved``, ``dropped`` without effect, ``refused``, or ``same``: only its list number is new.
        reason: Why, as the end of a sentence; empty when it goes without saying.
        default: Nobody wrote the key: it came with the default hooks.
    """

    key: str
    to: str
    fate: MoveFate
    reason: str = ""
    default: bool = False

    def __str__(self) -> str:
        text = f"{self.key} {self.fate} to {self.to}" if self.to else f"{self.key} {self.fate}"
        return f"{text}: {self.reason}" if self.reason else text


def covers(key: str, path: str) -> bool:
    """Whether ``path`` is ``key`` or lies below it."""
    return path == key or path.startswith((f"{key}.", f"{key}["))


def has_room(config: Config, key: str) -> bool:
    """Whether ``key`` can be set: the sections above it are sections, or absent."""
    parents = key.split(".")[:-1]
    above = [config.safe_get(".".join(parents[: depth + 1])) for depth in range(len(parents))]
    return all(section is None or isinstance(section, dict) for section in above)


def notices(moves: Iterable[Move]) -> list[str]:
    """A sentence for each key that is used under another name or not used, for the log."""
    return [str(move) for move in moves if move.fate != "same" and not move.default]
