"""build_dataset_from_file: training and evaluation data described in a file of their own."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adapter.data.named import load_named
from adapter.errors import ConfigError, Problem

KEYS = ("dataset", "column_mapping", "usage", "split")
SEED = 42  # of the split by a fraction, so that each run trains on the same rows


def build_dataset_from_file(filename: str | os.PathLike[str]) -> tuple[Any, Any]:
    """The training and the evaluation rows that a JSON file describes, as ``datasets.Dataset``; None for neither.

    The file holds a list of ``{"dataset": {"dataset_name": ..., "split": ...}, "column_mapping": {"text1": "first"},
    "usage": 0.8}``: data by name, the columns that are kept and what they are called here, and what the rows are for,
    ``train``, ``val`` or the fraction that is trained on while the rest is for evaluation (``split`` is read too).

    Raises:
        ConfigError: The file, or one of its entries, cannot be read.
    """
    path = Path(filename)
    try:
        entries = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigError(Problem("", f"cannot be read: {error}", kind="file"), str(path)) from error
    parts: dict[str, list[Any]] = {"train": [], "val": []}
    try:
        for number, entry in enumerate(entries):
            for mode, rows in _rows(entry, f"[{number}]", path.parent).items():
                parts[mode].append(rows)
    except ConfigError as error:
        raise error.with_file(str(path)) from error
    from datasets import concatenate_datasets

    train, val = (concatenate_datasets(rows) if rows else None for rows in parts.values())
    return train, val


def _rows(entry: Mapping[str, Any], key: str, base_dir: Path) -> dict[str, Any]:
    """Mode to rows of one entry."""
    data = dict(entry.get("dataset") or {})
    usage = entry.get("usage", entry.get("split"))
    if not (usage in ("train", "val") or (isinstance(usage, float) and 0 < usage < 1)):
        raise ConfigError(Problem(f"{key}.usage", f"found {usage!r}", "train, val or a number between 0 and 1"))
    name = data.pop("dataset_name", None)
    if not isinstance(name, str):
        raise ConfigError(Problem(f"{key}.dataset.dataset_name", "not given", kind="missing"))
    rows = load_named(name, data.pop("split", "train"), data.pop("subset_name", None), base_dir, options=data)
    rows = _renamed(rows, entry.get("column_mapping"), key)
    if isinstance(usage, str):
        return {usage: rows}
    parted = rows.train_test_split(train_size=usage, seed=SEED)
    return {"train": parted["train"], "val": parted["test"]}


def _renamed(rows: Any, mapping: Mapping[str, str] | None, key: str) -> Any:
    """The columns of a mapping under their new names; every column without one."""
    if not mapping:
        return rows
    absent = [column for column in mapping if column not in rows.column_names]
    if absent:
        known = ", ".join(rows.column_names)
        raise ConfigError(Problem(f"{key}.column_mapping", f"there is no column '{absent[0]}'", allowed=known))
    return rows.select_columns(list(mapping)).rename_columns({old: new for old, new in mapping.items() if old != new})
