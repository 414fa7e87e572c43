"""Find a key of a config in the documented schema: what it sets, or which known keys it might have meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapter.config.paths import child, steps
from adapter.schema.field import Doc, Key, documented_keys, items_in, section_in
from adapter.schema.hooks import AnyArguments
from adapter.schema.run import Run

FREE = Key((Any,), Doc(""), False)  # a key that is only passed on


@dataclass(frozen=True)
class Place:
    """Where a key path ends up in the schema.

    Attributes:
        known: Whether the schema has such a key, or takes any key there.
        target: What it sets.
        hook: The hook whose argument it is, or lies below; empty for none.
        argument: That argument's name.
        doc: Its documentation; that of the nearest documented key above it when it is only passed on.
        siblings: The documented keys beside it.
        block: The key that the schema follows the path to.
    """

    known: bool = True
    target: str = ""
    hook: str = ""
    argument: str = ""
    doc: Doc = FREE.doc
    siblings: tuple[str, ...] = ()
    block: str = ""


def locate(config: Mapping[str, Any], path: str) -> Place:
    """The place of a documented key path; ``config`` tells the types of the hooks on the way."""
    section: type | None = Run
    kinds: tuple[Any, ...] = ()
    place, value, block = Place(), config, ""
    for step in steps(path):
        value = _below(value, step)
        if section is not None and isinstance(step, str):
            place, kinds = _enter(section, step, place)
        elif items_in(kinds) and isinstance(step, int):
            kinds = items_in(kinds) or ()
        else:  # a free-form value: whatever lies below goes where it goes
            break
        block = child(block, step)
        if not place.known:
            break
        section, place = _section_of(kinds, value, place)
    return replace(place, block=block)


def _enter(section: type, step: str, above: Place) -> tuple[Place, tuple[Any, ...]]:
    """The place of a section's key, and the types it may have."""
    keys = documented_keys(section)
    if step not in keys and not hasattr(section, "OPEN") and step != "type":
        return Place(False, siblings=tuple(keys), hook=above.hook), ()
    key = keys.get(step, FREE)
    hook = key.doc.hook or above.hook
    argument = above.argument or step if hook == above.hook != "" else ""
    return Place(True, _target(step, key, above), hook, argument, key.doc, tuple(keys)), key.kinds


def _target(step: str, key: Key, above: Place) -> str:
    """What a key sets, after what its section sets; a section that is no piece of the plan adds nothing."""
    if key.doc.hook or key.doc.sections or (section_in(key.kinds) and not key.doc.target and not above.target):
        return ""
    name = key.doc.target or step
    return f"{above.target}: {name}" if above.target else name


def _section_of(kinds: tuple[Any, ...], value: Any, place: Place) -> tuple[type | None, Place]:
    """The section that a value holds, if any; a mapping with a type may be a hook."""
    if place.doc.sections and isinstance(value, Mapping) and not place.hook:
        kind = str(value.get("type") or "")
        return place.doc.sections.get(kind, AnyArguments), Place(hook=kind, doc=place.doc)
    return section_in(kinds), place


def _below(value: Any, step: Any) -> Any:
    try:
        return value[step]
    except (KeyError, IndexError, TypeError):
        return None
