"""Tables on a terminal; into a pipe or a file the commands write plain lines, which programs can read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

STYLES = {"same": "green", "moved": "cyan", "dropped": "dim", "refused": "bold red", "unread": "yellow"}


def on_terminal() -> bool:
    """Whether a person looks at stdout."""
    return sys.stdout is not None and sys.stdout.isatty()


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", styled_by: int | None = None
) -> None:
    """Print a table as wide as the terminal.

    Args:
        columns: Headings; the last column takes what width is left.
        rows: Cells as plain texts.
        title: Line above the table.
        styled_by: Number of the column whose word decides a row's color.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", ratio=1 if number == len(columns) - 1 else None)
    for row in rows:
        style = STYLES.get(row[styled_by], "") if styled_by is not None else ""
        table.add_row(*map(Text, row), style=style)
    Console().print(table)
