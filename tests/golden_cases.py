"""The recordings of the real trainer that tests compare with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adapter.config.config import Config
from adapter.dialects.modelscope import merge_default_hooks, move_old_keys

FOLDER = Path(__file__).parent / "parity" / "golden"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json") if not path.stem.startswith("lavis"))


def recording(name: str) -> dict[str, Any]:
    """The recording of one case."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def documented(config: dict[str, Any]) -> Config:
    """A config with its default hooks and its old keys moved."""
    moved = Config(config)
    merge_default_hooks(moved)
    move_old_keys(moved)
    return moved
