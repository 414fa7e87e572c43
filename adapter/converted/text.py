"""Texts that LightningCLI would take for something else: it reads the text "123" in a mapping as a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

TEXT = "$text"


def marked(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a mapping for a file; a text that is no plain word becomes ``{$text: "123"}``, which is left alone."""
    return {
        key: {TEXT: value} if isinstance(value, str) and _is_read(value) else value for key, value in values.items()
    }


def unmarked(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values that were marked, as they were; empty for None."""
    return {
        key: value[TEXT] if isinstance(value, Mapping) and [*value] == [TEXT] else value
        for key, value in (values or {}).items()
    }


def _is_read(text: str) -> bool:
    """Whether reading a text as YAML makes something else of it."""
    try:
        float(text.replace("_", ""))
    except ValueError:
        pass
    else:
        return True
    try:
        return not isinstance(yaml.safe_load(text), str) or text.strip() != text
    except yaml.YAMLError:
        return False
