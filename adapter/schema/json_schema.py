"""The documented schema as JSON Schema, with which an editor completes, explains and checks a config as it is typed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_origin

from adapter.schema.field import Doc, Key, documented_keys, items_in
from adapter.schema.run import Run

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TYPES: Mapping[Any, str] = {
    int: "integer",
    float: "number",
    bool: "boolean",
    str: "string",
    dict: "object",
    list: "array",
    type(None): "null",
}
JsonSchema = dict[str, Any]


def json_schema() -> JsonSchema:
    """JSON Schema (draft 2020-12) of a documented config; a key it does not know is allowed, as in a run.

    A key has ``title``, ``description``, ``default``, what its type allows (``enum``, ``minimum``) and, where its
    number counts something, ``unit``.
    """
    definitions: dict[str, JsonSchema] = {}
    _section(Run, definitions)
    return {"$schema": DRAFT, **definitions.pop(Run.__name__), "$defs": dict(sorted(definitions.items()))}


def _section(section: type, definitions: dict[str, JsonSchema]) -> JsonSchema:
    """A reference to a section, which is added to the definitions."""
    name = section.__name__
    if name not in definitions:
        definitions[name] = {}  # there before its keys, for a section that held itself would have no end
        defaults = {item.name: item.default for item in fields(section) if item.default is not MISSING}
        keys = documented_keys(section)
        required = [key for key, known in keys.items() if known.required]
        definitions[name] = {
            "title": name,
            "description": inspect.cleandoc(section.__doc__ or ""),
            "type": "object",
            "properties": {key: _key(key, known, defaults, definitions) for key, known in keys.items()},
            **({"required": required} if required else {}),
        }
    return {"$ref": f"#/$defs/{name}"}


def _key(name: str, key: Key, defaults: Mapping[str, Any], definitions: dict[str, JsonSchema]) -> JsonSchema:
    """One key: what is known of it, and the types it may have."""
    described: JsonSchema = {"title": name.replace("_", " ").capitalize(), "description": _described(key.doc)}
    if key.doc.unit:
        described["unit"] = key.doc.unit
    if defaults.get(name) is not None:
        described["default"] = defaults[name]
    return described | _kinds(key.kinds, key.doc, definitions)


def _described(doc: Doc) -> str:
    counted = f" In {doc.unit}." if doc.unit else ""
    return f"{doc.text}{counted}" + (f" No effect: {doc.no_effect}." if doc.no_effect else "")


def _kinds(kinds: tuple[Any, ...], doc: Doc, definitions: dict[str, JsonSchema]) -> JsonSchema:
    """What a union's members allow, without ``anyOf``: an editor then marks the wrong value, not its whole section.

    That is possible because each keyword of JSON Schema concerns values of one type and lets the others pass.
    """
    if Any in kinds:
        return {}
    names = [_type_name(kind) for kind in kinds]
    allowed: JsonSchema = {"type": names[0] if len(names) == 1 else names}
    if doc.minimum is not None:
        allowed["minimum"] = doc.minimum
    if doc.choices:
        allowed |= {"if": {"type": "string"}, "then": {"enum": list(doc.choices)}}
    for kind in kinds:
        if get_origin(kind) is list:
            allowed["items"] = _kinds(items_in((kind,)) or (), doc, definitions)
        elif is_dataclass(kind):
            reference = _section(kind, definitions)  # type: ignore[arg-type]
            allowed |= {"if": {"type": "object"}, "then": reference}
        elif kind is dict and doc.sections:
            allowed |= {"if": {"type": "object"}, "then": _typed(doc.sections, definitions)}
    return allowed


def _type_name(kind: Any) -> str:
    if get_origin(kind) is list:
        return "array"
    return "object" if is_dataclass(kind) else TYPES[kind]


def _typed(sections: Mapping[str, type], definitions: dict[str, JsonSchema]) -> JsonSchema:
    """A mapping whose ``type`` says what its other keys mean; a type of the user's own takes anything."""
    return {
        "required": ["type"],
        "properties": {"type": {"type": "string", "examples": list(sections)}},
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": _section(section, definitions),
            }
            for name, section in sections.items()
        ],
    }
