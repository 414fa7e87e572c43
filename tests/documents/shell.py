"""The commands of a page: what they are, and what it takes to run one in a test."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.conftest import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:  # pytest brings it
    import tomli as tomllib

STATUS = re.compile(r"#\s*exit status (\d+)\s*$")
PROMPT = "$ "
OMITTED = "..."  # in a line it stands for any text, alone for any lines
LOGGED_AT = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - ", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """One command of a page.

    Attributes:
        words: Its words.
        status: How it has to end.
        output: What it has to print; None when the page does not show it.
    """

    words: tuple[str, ...]
    status: int = 0
    output: str | None = None


def commands_of(script: str, output: str | None = None) -> list[Command]:
    """The commands of a few lines of shell: one a line, or several joined by ``&&``."""
    found = []
    for line in script.replace("\\\n", " ").splitlines():
        told = STATUS.search(line)
        words = shlex.split(line, comments=True)
        for part in _split(words, "&&"):
            found.append(Command(part, int(told[1]) if told else 0, output))
    return found


def console(text: str) -> list[Command]:
    """The commands of a session, each with what it prints; output alone belongs to an empty command."""
    before, *parts = re.split(rf"^{re.escape(PROMPT)}", text, flags=re.MULTILINE)
    found = [Command((), output=before)] if before.strip() else []
    for part in parts:
        line, _, output = part.partition("\n")
        found += commands_of(line, output)
    return found


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what a command prints, less the time of log lines and what it omits."""
    pattern = ""
    for line in shown.strip().splitlines():
        parts = (re.escape(part) for part in line.rstrip().split(OMITTED))
        pattern += "(?:.*\n)*" if line.strip() == OMITTED else ".*".join(parts) + "\n"
    return re.fullmatch(pattern, plain(printed)) is not None


def plain(printed: str) -> str:
    """What a command printed, without times and without spaces at the ends of lines."""
    return re.sub(r"[ \t]+$", "", LOGGED_AT.sub("", printed), flags=re.MULTILINE).strip() + "\n"


def unknown_requirements(words: Sequence[str]) -> list[str]:
    """Of ``pip install ...``, what pyproject.toml does not know: extras, or packages of none of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    packages = {_name(each) for group in (*extras.values(), project["dependencies"]) for each in group}
    return [
        asked
        for word in words
        if not word.startswith("-")
        for asked in _asked(word, project["name"])
        if asked not in (extras if word.startswith((".", project["name"])) else packages)
    ]


def _asked(requirement: str, own: str) -> list[str]:
    """The extras of this project, or the name of another one."""
    if _name(requirement) in (".", own):
        return re.findall(r"[\w-]+", requirement.partition("[")[2])
    return [_name(requirement)]


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=~ ]", requirement)[0].lower()


def _split(words: Sequence[str], between: str) -> Iterator[tuple[str, ...]]:
    part: list[str] = []
    for word in (*words, between):
        if word != between:
            part.append(word)
        elif part:
            yield tuple(part)
            part = []
