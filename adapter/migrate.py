"""Rewrite a config on today's keys: what a run does to the old ones on the fly, done once in the file."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass

from adapter.config import Config
from adapter.config.round_trip import rewritten
from adapter.config.writing import WRITERS, to_text
from adapter.dialects import detect, easycv, modelscope
from adapter.dialects.move import Move, notices
from adapter.errors import ConfigError, Problem
from adapter.prepare import refuse_converted


@dataclass(frozen=True)
class Migration:
    """A config file on today's keys.

    Attributes:
        text: The new file.
        moves: What became of each old key; empty when there was none.
        anew: Whether the file is written from its values alone: what an anchor shares has changed in one place only.
    """

    text: str
    moves: tuple[Move, ...]
    anew: bool = False

    @property
    def summary(self) -> list[str]:
        """A sentence for each key that was moved or dropped."""
        told = "written anew, without comments: what an anchor of the file shares has changed in one place only"
        return [*notices(self.moves), *([told] if self.anew else [])]


def migrate(path: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Migration:
    """Move a file's old keys (hooks in the list, complete hooks beside their section, flat ones) to today's.

    Default hooks are not written into it. A file without old keys stays as it is, and so does a ``run:`` config: both
    of the spellings that some of its keys have are today's.

    Args:
        path: The file.
        out: What the new one will be called; with another suffix it is written anew in that format. None for the same.

    Raises:
        ConfigError: The file cannot be read, or is of a kind that is not rewritten.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".py":
        found = "a Python file computes its values, so there is no text to rewrite"
        raise ConfigError(Problem("", found, fix="write its values as YAML, then migrate that", kind="file"), str(path))
    config = Config.from_file(path)
    refuse_converted(config, str(path))
    moves = [] if detect(config) == "run" else _move(config)
    moved = {move.key: move.to for move in moves}
    text = rewritten(config.text, suffix, config, moved) if moves else config.text
    wanted = os.path.splitext(out)[1].lower() if out is not None else suffix
    if wanted and (wanted not in WRITERS or (wanted == ".json") != (suffix == ".json")):
        text, suffix = to_text(config, wanted), wanted
    anew = Config.from_string(text, suffix) != config
    if anew:
        text = to_text(config, suffix)
    if Config.from_string(text, suffix) != config:
        raise AssertionError(f"'{path}' does not read back as what was written; nothing was changed")
    return Migration(text, tuple(moves), anew)


def _move(config: Config) -> list[Move]:
    """Move the old keys, in place; a hook list of which nothing is left goes too."""
    moves = [*modelscope.move_old_keys(config, copy.deepcopy(config)), *easycv.move_stepping_hooks(config)]
    if moves and config.safe_get("train.hooks") == []:
        del config.train["hooks"]
    return moves
