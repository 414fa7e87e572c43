"""ConfigError: every problem of a config at once, with key, value found, allowed, nearest name and fix."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["file", "value", "missing", "name"]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a config.

    Attributes:
        key: Dotted path of the key in the user's file (``train.hooks[1].type``); empty for the whole file.
        found: What was found, as a phrase (``unknown hook 'EvalHook'``).
        allowed: What would have been accepted (``an integer of 1 or more``), unless it goes without saying.
        nearest: The nearest known name, for a misspelled one.
        fix: What to do.
        line: Line of the key in the file, counted from 1, when known.
        kind: ``file`` unreadable, ``value`` wrong type or range, ``missing`` a required key, ``name`` a name
            that resolves to nothing here (it may still exist in a module the user forgot to import).
    """

    key: str
    found: str
    allowed: str = ""
    nearest: str = ""
    fix: str = ""
    line: int | None = None
    kind: Kind = "value"

    def __str__(self) -> str:
        where = f"line {self.line}, " if self.line else ""
        text = f"{where}{self.key}: {self.found}" if self.key else f"{where}{self.found}"
        if self.allowed:
            text += f"; allowed: {self.allowed}"
        if self.nearest:
            text += f". Did you mean '{self.nearest}'?"
        return f"{text}\n    fix: {self.fix}" if self.fix else text


class ConfigError(ValueError):
    """A config that cannot be run as written; lists every problem found.

    Args:
        problems: One problem, several, or a plain sentence (a problem of the whole file).
        file: The config file, as the user named it, when there is one.
    """

    def __init__(self, problems: Problem | Sequence[Problem] | str, file: str | None = None) -> None:
        if isinstance(problems, str):
            problems = Problem("", problems)
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        self.file = file
        super().__init__(str(self))

    def __str__(self) -> str:
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        head = f"{self.file or 'config'}: {count}"
        return "\n".join([head, *(textwrap.indent(str(problem), "  ") for problem in self.problems)])

    def with_file(self, file: str) -> ConfigError:
        """The same error, naming the file it was found in."""
        return ConfigError(self.problems, self.file or file)


class MissingEntryError(ConfigError, KeyError):
    """A config that counts on an entry which a batch, an output or an evaluation turns out not to have."""


class MissingCheckpointError(ConfigError, FileNotFoundError):
    """A config that starts from a checkpoint which is not there."""


# What constructors raise, knowingly or not, for values that they cannot use.
REFUSALS = (
    TypeError,
    ValueError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RuntimeError,
    AssertionError,
    MemoryError,
    OSError,
)


def reason_of(error: Exception) -> str:
    """What an exception says, on one line; its kind where it says nothing."""
    text = error.args[0] if isinstance(error, KeyError) and error.args else error  # as text a KeyError is quoted
    return " ".join(str(text).split()) or type(error).__name__


def collect(*checks: Callable[[], object]) -> None:
    """Run several checks and raise the problems of all of them at once.

    Raises:
        ConfigError: At least one check raised one.
    """
    problems: list[Problem] = []
    for check in checks:
        try:
            check()
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)


def nearest(name: object, known: Iterable[str]) -> str:
    """The known name most like ``name``, ignoring case; empty when none comes close."""
    table: dict[str, str] = {}
    same_case = str(name)[:1].isupper()
    for candidate in sorted(known, key=lambda candidate: candidate[:1].isupper() != same_case):
        table.setdefault(candidate.lower(), candidate)
    match = difflib.get_close_matches(str(name).lower(), table, n=1, cutoff=0.6)
    return table[match[0]] if match else ""


def at_line(problem: Problem, line: int | None) -> Problem:
    """The problem with its line filled in, unless it has one already."""
    return problem if problem.line or not line else replace(problem, line=line)
