"""A page of the documentation as a list of what a test does with it, in the order of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

NOTE = re.compile(r"<!--\s*(\w+):\s*(.*?)\s*-->", re.DOTALL)
FILES = "Files: "  # begins the sentence that names what the run above it has written


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        kind: Its language; ``indented`` for one without a fence, ``files`` for a sentence that names files.
        text: What stands in it.
        line: Number of its first line in the page, from 1.
        verb: First word of the comment before it (``file``, ``fit``); empty without one.
        words: The rest of that comment.
        names: Names of the files, of a ``files`` block.
    """

    kind: str
    text: str
    line: int
    verb: str = ""
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """A page: its blocks, and the code, links and headings of its text."""

    path: Path
    blocks: tuple[Block, ...]
    spans: tuple[str, ...]
    links: tuple[str, ...]
    anchors: frozenset[str]


def read(path: Path) -> Page:
    """Read a page of Markdown."""
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text())
    inside = [child for token in tokens for child in token.children or ()]
    return Page(
        path,
        tuple(_blocks(tokens)),
        tuple(child.content for child in inside if child.type == "code_inline"),
        tuple(str(child.attrs["href"]) for child in inside if child.type == "link_open"),
        frozenset(_anchor(token.content) for before, token in pairwise(tokens) if before.type == "heading_open"),
    )


def sides(diff: str) -> tuple[str, str]:
    """The text before and after a diff."""
    lines = diff.splitlines(keepends=True)
    before, after = ("".join(line[1:] or line for line in lines if line[:1] != other) for other in "+-")
    return before, after


def _blocks(tokens: list[Token]) -> Iterator[Block]:
    note: re.Match[str] | None = None
    for token in tokens:
        line = (token.map or [0])[0] + 1
        if token.type in ("fence", "code_block"):
            verb, *words = [note[1], *note[2].split()] if note else [""]
            yield Block(token.info.strip() or "indented", token.content, line, verb, tuple(words))
        if token.type == "inline" and token.content.startswith(FILES):
            names = tuple(child.content for child in token.children or () if child.type == "code_inline")
            yield Block("files", token.content, line, names=names)
        note = NOTE.match(token.content) if token.type == "html_block" else None


def _anchor(heading: str) -> str:
    """What a link to a heading has after its ``#``."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
