"""Check a config's values against the documented schema: types, ranges and choices, all problems at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, get_origin

from adapter.errors import Problem
from adapter.schema.field import Doc, documented_keys, items_in, section_in

Kinds = tuple[Any, ...]
PLACEHOLDER = re.compile(r"<(expr|callable)\s*:.*>", re.DOTALL)
NAMES = {
    int: "an integer",
    float: "a number",
    bool: "true or false",
    str: "a string",
    dict: "a mapping",
    list: "a list",
}


def check_section(section: type, value: Any, path: str = "") -> Iterator[Problem]:
    """Problems of a mapping that should hold the keys of ``section``. Keys that it does not have are none."""
    if not isinstance(value, Mapping):
        yield Problem(path, _found(value), allowed="a mapping")
        return
    for name, key in documented_keys(section).items():
        where = f"{path}.{name}" if path else name
        if name in value:
            yield from check_value(value[name], key.kinds, key.doc, where)
        elif key.required:
            allowed = _allowed(key.kinds, key.doc) if key.doc.choices else ""
            yield Problem(where, "not given", allowed, kind="missing", fix="add it to the config")


def check_value(value: Any, kinds: Kinds, doc: Doc, path: str) -> Iterator[Problem]:
    """Problems of one value; a placeholder passes, for it stands for a value that is not there yet."""
    if Any in kinds or is_placeholder(value) or (value is None and type(None) in kinds):
        return
    section, items = section_in(kinds), items_in(kinds)
    if isinstance(value, Mapping) and not value and type(None) in kinds and (section or dict in kinds):
        return  # an empty section is as good as none
    if section and isinstance(value, Mapping):
        yield from check_section(section, value, path)
    elif items and _is_list(value):
        for index, item in enumerate(value):
            yield from check_value(item, items, doc, f"{path}[{index}]")
    elif not any(_is_a(value, kind) for kind in kinds) or not _in_range(value, doc):
        yield Problem(path, _found(value), allowed=_allowed(kinds, doc), fix=_fix(value, kinds))
    elif isinstance(value, Mapping) and doc.sections:
        yield from _check_typed(value, doc, path)


def _check_typed(value: Mapping[str, Any], doc: Doc, path: str) -> Iterator[Problem]:
    """A mapping whose ``type`` says what its other keys mean; a type of the user's own takes anything."""
    kind = value.get("type")
    if kind is None:
        yield Problem(f"{path}.type", "not given", kind="missing", fix="add it to the config")
    elif not isinstance(kind, str):
        yield Problem(f"{path}.type", _found(kind), allowed="a string")
    elif kind in doc.sections:
        yield from check_section(doc.sections[str(kind)], value, path)


def is_placeholder(value: Any) -> bool:
    """Whether a value is ``<expr: ...>`` or ``<callable: ...>``: a place that a program fills in."""
    return isinstance(value, str) and PLACEHOLDER.fullmatch(value) is not None


def _is_a(value: Any, kind: Any) -> bool:
    """Whether a value is of a plain type; a bool is no number here, and an integer is a number."""
    if is_dataclass(kind) or get_origin(kind) is list:
        return False
    if isinstance(value, bool):
        return kind is bool
    if kind is float:
        return isinstance(value, (int, float))
    return _is_list(value) if kind is list else isinstance(value, Mapping if kind is dict else kind)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _in_range(value: Any, doc: Doc) -> bool:
    if isinstance(value, str):
        return not doc.choices or value in doc.choices
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return not is_number or doc.minimum is None or value >= doc.minimum  # false for nan, as it should be


def _found(value: Any) -> str:
    """The value as a config file would show it."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    return f"found {text}" if len(text) <= 60 else f"found {text[:57]}..."


def _allowed(kinds: Kinds, doc: Doc) -> str:
    return " or ".join(dict.fromkeys(_name(kind, doc) for kind in kinds if kind is not type(None)))


def _name(kind: Any, doc: Doc) -> str:
    if kind is str and doc.choices:
        return ", ".join(doc.choices)
    if kind in (int, float) and doc.minimum is not None:
        return f"{NAMES[kind]} of {doc.minimum:g} or more"
    if get_origin(kind) is list:
        return "a list"
    return NAMES.get(kind, "a mapping")


def _fix(value: Any, kinds: Kinds) -> str:
    """A hint for a number or a truth value that is written as a string."""
    if not isinstance(value, str):
        return ""
    if (int in kinds or float in kinds) and _is_number(value):
        return f"write {value} without quotes"
    truth = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
    return f"write {truth[value.lower()]}" if bool in kinds and value.lower() in truth else ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
