"""Draw the curves of one or several runs, one panel a value, to compare them at a glance."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from adapter.aside import write_text, written_aside
from adapter.curves import Curve
from adapter.errors import ConfigError, Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIMING = ("iter_time", "data_load_time", "memory", "eta")
SUFFIXES = (".png", ".html")
COLUMNS = 3
PANEL = (4.6, 3.0)  # inches
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ margin: 1em; font-family: sans-serif }} svg {{ max-width: 100%; height: auto }}</style></head>
<body>{svg}</body></html>
"""


def plot(runs: Mapping[str, Mapping[str, Curve]], out: Path) -> None:
    """Draw runs into one picture.

    Args:
        runs: Name of each run to its curves.
        out: ``.png``, or ``.html`` for a page that needs nothing else and stays sharp at any size.

    Raises:
        ConfigError: Another suffix, no value to draw, or matplotlib is not installed.
    """
    if out.suffix.lower() not in SUFFIXES:
        found = f"cannot draw into '{out.name}'"
        raise ConfigError(Problem("--out", found, ", ".join(SUFFIXES)))
    figure = _draw(runs)
    if out.suffix.lower() == ".png":
        with written_aside(out) as file:
            figure.savefig(file, format="png", dpi=110)
        return
    text = io.StringIO()
    figure.savefig(text, format="svg")
    svg = text.getvalue()
    write_text(PAGE.format(title=", ".join(runs), svg=svg[svg.index("<svg") :]), out)


def _draw(runs: Mapping[str, Mapping[str, Curve]]) -> Figure:
    """One panel a value: losses first, then rates, then metrics; a run has one color everywhere."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        fix = "pip install 'ms-lightning-adapter[plot]'"
        raise ConfigError(Problem("", "drawing needs the package matplotlib", fix=fix)) from error
    names = sorted({name for curves in runs.values() for name in curves if name not in TIMING}, key=_rank)
    if not names:
        raise ConfigError(Problem("", "the logs hold no values yet", fix="draw after the first log line", kind="file"))
    columns = min(COLUMNS, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(PANEL[0] * columns, PANEL[1] * rows + 0.4), layout="constrained")
    for name, axes in zip(names, figure.subplots(rows, columns, squeeze=False).flat, strict=False):
        for number, curves in enumerate(runs.values()):
            points = curves.get(name, [])
            style = "o-" if len(points) <= 30 else "-"
            axes.plot([x for x, _ in points], [y for _, y in points], style, ms=3, lw=1.3, color=f"C{number}")
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("epoch")
        axes.grid(alpha=0.3)
    for axes in figure.axes[len(names) :]:
        axes.remove()
    handles = [figure.axes[0].lines[number] for number in range(len(runs))]
    figure.legend(handles, list(runs), loc="outside upper center", ncols=min(4, len(runs)), frameon=False)
    return figure


def _rank(name: str) -> tuple[int, str]:
    """Order of the panels."""
    kinds = ("loss" in name, name == "lr" or name.endswith("_lr") or name.startswith("lr"), True)
    return kinds.index(True), name
