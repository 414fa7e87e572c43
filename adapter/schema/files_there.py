"""Whether the files that a config names are there. A run says so when it opens them; explaining says it before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapter.config import Config
from adapter.data.formats import format_of, missing_file
from adapter.errors import ConfigError, Problem
from adapter.models.directory import find_model
from adapter.models.pretrained import TYPE, pretrained_section
from adapter.schema.hook_list import section


def missing_files(config: Config) -> Iterator[Problem]:
    """A problem for each data file, and for a model's directory, that is not there.

    Args:
        config: On its documented keys; relative names start from its folder.
    """
    folder = Path(config.filename or ".").parent
    for mode in ("train", "val"):
        for key, entry in _entries(section(config, "dataset").get(mode), f"dataset.{mode}"):
            for name in _names(entry):
                path = folder / name
                if format_of(path) is not None and not path.exists():
                    yield replace(missing_file(path), key=f"{key}.file", kind="missing")
    model: Mapping[str, Any] = section(config, "model")
    if isinstance(model.get("type"), (str, type(None))):
        model = pretrained_section(model)
    if model.get("type") == TYPE and isinstance(model.get("path"), str):
        try:
            find_model(model["path"], folder)
        except ConfigError as error:
            yield from (replace(problem, kind="missing") for problem in error.problems)


def _entries(value: Any, key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Sections of a mode, each with its key."""
    if isinstance(value, Mapping):
        yield key, value
    elif isinstance(value, (list, tuple)):
        yield from ((f"{key}[{i}]", entry) for i, entry in enumerate(value) if isinstance(entry, Mapping))


def _names(entry: Mapping[str, Any]) -> list[str]:
    """The files of a section whose type is that of their ending."""
    file = entry.get("file") if entry.get("type") is None else None
    return [name for name in (file if isinstance(file, (list, tuple)) else [file]) if isinstance(name, str)]
