"""Dialects: old and foreign spellings of a config, and how they become the documented keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from adapter.dialects import run

Dialect = Literal["modelscope", "run"]


def detect(config: Mapping[str, Any]) -> Dialect:
    """The schema a config is written in, told by the keys that only one of them has."""
    return "run" if run.is_written_in(config) and "train" not in config else "modelscope"
