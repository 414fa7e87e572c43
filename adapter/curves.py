"""The curves of a run: losses, rates and metrics over its epochs, read from the log files in its work directory."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

from adapter.errors import ConfigError, Problem

Curve = list[tuple[float, float]]
WITHIN_EPOCH = re.compile(r"epoch \[\d+\]\[\d+/(\d+)\]\t")
WITHIN_RUN = re.compile(r"iter \[\d+/(\d+)\]\t")
MAX_EPOCHS = re.compile(r'"max_epochs": (\d+)')
NO_CURVES = ("mode", "epoch", "iter")


def read_curves(folder: Path) -> dict[str, Curve]:
    """Value name to its points ``(epochs done, value)``, in the order of the log.

    Reads every ``*.log.json`` of a documented run, oldest first, so that a run resumed in the same folder is one
    curve; or the ``log.txt`` of a ``run:`` config, which has one point an epoch. Where a resumed run repeats what an
    earlier one had done, the later values stand.

    Raises:
        ConfigError: No such folder, or no log in it.
    """
    logs = sorted(folder.glob("*.log.json"))
    if logs:
        points = [point for log in logs for point in _points(log)]
    elif (folder / "log.txt").is_file():
        points = list(_phase_points(folder / "log.txt"))
    else:
        found = "no *.log.json and no log.txt in it" if folder.is_dir() else "no such folder"
        runs = sorted({str(log.parent) for name in ("log.txt", "*.log.json") for log in folder.glob(f"*/{name}")})
        fix = f"name the work directory of a run{', such as ' if runs else ''}{', '.join(runs[-3:])}"
        raise ConfigError(Problem("", found, fix=fix, kind="file"), str(folder))
    curves: defaultdict[str, dict[float, float]] = defaultdict(dict)
    for name, epochs, value in points:
        curves[name][epochs] = value
    return {name: sorted(values.items()) for name, values in curves.items()}


Point = tuple[str, float, float]


def _points(log: Path) -> Iterator[Point]:
    """The points of one ``*.log.json``."""
    rows = [row for row in _objects(log) if _says_when(row)]
    length = max(1, _iterations_per_epoch(log.with_suffix(""), rows))
    inner = _restarts(rows)
    done = 0.0
    none: dict[str, Any] = {}
    for row, following in zip_longest(rows, rows[1:], fillvalue=none):
        if row.get("mode") == "train":
            done = row["iter"] / length + (row["epoch"] - 1 if inner else 0)
        elif following.get("epoch") != row.get("epoch"):
            done = float(row["epoch"])  # an evaluation after an epoch, whose last iterations may have had no line
        for name, value in row.items():
            if name not in NO_CURVES and _is_number(value):
                yield name, done, float(value)


def _says_when(row: Mapping[str, Any]) -> bool:
    """Whether an object is a line of the log, and not something else that was written to the file."""
    return _is_number(row.get("epoch")) and (row.get("mode") != "train" or _is_number(row.get("iter")))


def _restarts(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether ``iter`` starts anew in each epoch."""
    trained = [row for row in rows if row.get("mode") == "train"]
    return all(
        after["epoch"] == before["epoch"] or after["iter"] <= before["iter"] for before, after in pairwise(trained)
    )


def _iterations_per_epoch(log: Path, rows: Sequence[Mapping[str, Any]]) -> float:
    """As the text log beside it says; without one, the largest number that the lines show."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    if found := WITHIN_EPOCH.search(text):
        return int(found[1])
    if (found := WITHIN_RUN.search(text)) and (epochs := MAX_EPOCHS.search(text)):
        return int(found[1]) / int(epochs[1])
    return max((row["iter"] for row in rows if row.get("mode") == "train"), default=1)


def _phase_points(log: Path) -> Iterator[Point]:
    """The points of a ``log.txt``: a training line ends an epoch, the lines after it belong to the same one."""
    epochs = 0
    for row in _objects(log):
        epochs += "train_loss" in row or "train_lr" in row
        for name, value in row.items():
            if epochs and (number := _number(value)) is not None:
                yield name, float(epochs), number


def _objects(log: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects that have a line each; a line cut off by a crash, and any other text, is passed over."""
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
