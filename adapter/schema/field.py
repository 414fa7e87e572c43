"""What a key of the documented schema means, kept in its annotation for checks and reference pages alike.

A section is a dataclass, its fields are the keys: ``lr: Annotated[float | None, Doc("Step size.")] = None``.
A key without a default must be given. A section with a class attribute ``OPEN`` takes other keys too.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Doc:
    """What is known of a key besides its name, type and default.

    Attributes:
        text: What it is for, one sentence.
        unit: What its number counts (``epochs``, ``iterations``, ``samples``).
        minimum: Smallest value, for numbers.
        choices: The strings it may hold, when they are few; other types are not affected.
        target: What becomes of it in the plan; empty for an argument of the same name of its section.
        hook: Hook whose arguments the section holds.
        no_effect: Why the value makes no difference; empty when it does.
        sections: For a mapping with a ``type``: what each type's other keys mean.
    """

    text: str
    unit: str = ""
    minimum: float | None = None
    choices: tuple[str, ...] = ()
    target: str = ""
    hook: str = ""
    no_effect: str = ""
    sections: Mapping[str, type] = field(default_factory=dict)


class Key(NamedTuple):
    """A documented key: its types (a union's members), what is known of it, whether it must be given."""

    kinds: tuple[Any, ...]
    doc: Doc
    required: bool


@cache
def documented_keys(section: type) -> dict[str, Key]:
    """The keys of a section, by name."""
    hints = get_type_hints(section, include_extras=True)
    keys = {}
    for item in fields(section):
        annotation, doc = get_args(hints[item.name])
        keys[item.name] = Key(alternatives(annotation), doc, item.default is MISSING)
    return keys


def alternatives(annotation: Any) -> tuple[Any, ...]:
    """The members of a union; the annotation itself when it is none."""
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def section_in(kinds: tuple[Any, ...]) -> type | None:
    """The section among the types of a key, if there is one."""
    return next((kind for kind in kinds if isinstance(kind, type) and is_dataclass(kind)), None)


def items_in(kinds: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The types of a list's entries, when one of a key's types is a list of something."""
    return next((alternatives(get_args(kind)[0]) for kind in kinds if get_origin(kind) is list), None)
