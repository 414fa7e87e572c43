"""Merging options into a config: dicts key by key, lists of ``{type: ...}`` entries type by type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapter.config.config_dict import ConfigDict, unwrapped
from adapter.config.paths import MISSING, as_index, child, key_in, matches, steps
from adapter.errors import ConfigError, Problem

DELETE = "_delete_"


@dataclass(frozen=True)
class Merge:
    """How options meet what is there already.

    Attributes:
        force: Options win over values that are there; otherwise they only fill gaps.
        enter_lists: A dict that meets a list changes single entries, named by number or type.
    """

    force: bool = True
    enter_lists: bool = True

    def into(self, config: ConfigDict, options: Mapping[str, Any]) -> None:
        """Merge options with dotted keys into ``config``, in place.

        Raises:
            ConfigError: A list entry that does not exist, or keys given below a value that has none.
        """
        for path, value in options.items():
            update = unwrapped(value)
            for step in reversed(steps(str(path))):
                update = {step: update}
            self._mapping(config, update, "")

    def _merged(self, base: Any, update: Any, path: str) -> Any:
        """What stands at ``path`` afterwards; containers that are there are changed in place."""
        if base is None and self.force:
            base = MISSING
        if isinstance(update, Mapping):
            return self._mapping(base, update, path)
        if base is MISSING:
            return update
        if _typed(base) and _typed(update):
            return self._typed_list(base, update, path)
        return update if self.force else base

    def _mapping(self, base: Any, update: Mapping[Any, Any], path: str) -> Any:
        if base is MISSING or (update.get(DELETE) and self.force):
            base = ConfigDict()
        update = {key: value for key, value in update.items() if key != DELETE}
        if isinstance(base, list) and self.enter_lists:
            for step, value in update.items():
                self._entry(base, step, value, path)
        elif isinstance(base, dict):
            for step, value in update.items():
                key = key_in(base, step)
                merged = self._merged(base.get(key, MISSING), value, child(path, key))
                if merged is not base.get(key, MISSING):  # storing a list would copy it
                    base[key] = merged
        elif self.force:
            raise ConfigError(_not_a_dict(path, base, update))
        return base

    def _entry(self, items: list[Any], step: Any, value: Any, path: str) -> None:
        """Merge into the entries of a list that a step names; a type that is not there yet is added."""
        found = matches(items, step)
        if as_index(step) is None:
            if not isinstance(value, Mapping) or (items and not _typed(items)):
                raise ConfigError(_no_entry(child(path, step), items))
            value = {"type": step, **value}
            if not found:
                items.append(self._merged(MISSING, value, child(path, step)))
        elif not found:
            raise ConfigError(_no_entry(child(path, step), items))
        for index in found:
            items[index] = self._merged(items[index], value, child(path, index))

    def _typed_list(self, base: list[Any], update: list[Any], path: str) -> list[Any]:
        """First entry of a type: into every entry of that type; further ones are appended."""
        seen: list[Any] = []
        for item in update:
            found = [] if item["type"] in seen else matches(base, item["type"])
            for index in found:
                base[index] = self._merged(base[index], item, child(path, index))
            if not found:
                base.append(self._merged(MISSING, item, child(path, len(base))))
            seen.append(item["type"])
        return base


def _typed(value: Any) -> bool:
    """Whether ``value`` is a list of ``{type: ...}`` entries."""
    return isinstance(value, list) and bool(value) and all(_has_type(item) for item in value)


def _has_type(item: Any) -> bool:
    return isinstance(item, Mapping) and "type" in item


def _not_a_dict(path: str, base: Any, update: Mapping[Any, Any]) -> Problem:
    found = f"keys {sorted(map(str, update))} given below the value {base!r}, which has none"
    return Problem(path, found, fix=f"replace the value as a whole: {{{DELETE}: true, ...}}")


def _no_entry(path: str, items: list[Any]) -> Problem:
    fix = "name an entry by its number, counted from 0, or give keys below its type"
    return Problem(path, f"no such entry in a list of {len(items)}", fix=fix)
