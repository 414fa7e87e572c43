"""Which columns of a table a sample is made of, by name or by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from adapter.errors import ConfigError, Problem, nearest

Column = str | int  # its name, or its number from 0
CHOICES = (  # keys of a data set's section that choose columns
    "columns",
    "features",
    "label",
    "first_sequence",
    "second_sequence",
    "col_index",
    "text_col",
    "label_col",
)


@dataclass(frozen=True)
class Columns:
    """Columns of a table.

    Attributes:
        values: Name in the sample to column, of what stays as it is or becomes a number.
        texts: The same of what is text, whatever it looks like.
        features: Columns that become one tensor.
        label: Column called ``label`` in the sample; None without one.
    """

    values: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    label: str | None = None


def choose_columns(
    known: Sequence[str],
    source: str,
    columns: Mapping[str, Column] | None = None,
    features: str | Sequence[str] | None = None,
    label: Column | None = None,
    first_sequence: Column | None = None,
    second_sequence: Column | None = None,
    col_index: Mapping[str, Column] | Sequence[Column] | None = None,
    text_col: Column | None = None,
    label_col: Column | None = None,
    unlabeled: bool = False,
) -> Columns:
    """The columns that a config asks for; all of them when it asks for none.

    Args:
        known: Columns of the table, in order.
        source: What the table is, for error messages.
        columns: Name in the sample to column.
        features: Columns, or patterns such as ``pixel*``.
        label: Column of the label.
        first_sequence: Column of the text, which keeps its name; one given by number is called ``first_sequence``.
        second_sequence: The same of a second text.
        col_index: ``text_col`` and ``label_col`` together, as a mapping or a list of the two.
        text_col: Older name of ``first_sequence``.
        label_col: Older name of ``label``.
        unlabeled: Do without the label, and without the second text, where the table does not have the column.

    Raises:
        ConfigError: A column that the table does not have; lists those it has.
    """
    older = _older(col_index)
    first = _first(first_sequence, text_col, older.get("text_col"))
    named = dict(columns or {})
    truth = _first(label, label_col, older.get("label_col"), named.pop("label", None))
    if unlabeled:
        truth, second_sequence = (_there(column, known) for column in (truth, second_sequence))
    texts = {"first_sequence": first, "second_sequence": second_sequence}
    texts = {key if isinstance(column, int) else column: column for key, column in texts.items() if column is not None}
    patterns = [features] if isinstance(features, str) else list(features or [])
    if not (named or texts or patterns or truth is not None):
        named = {name: name for name in known}
    problems: list[Problem] = []

    def real(column: Any) -> str:
        if isinstance(column, int) and 0 <= column < len(known):
            return known[column]
        if column not in known:
            problems.append(_absent(column, known, source))
        return str(column)

    chosen = Columns(
        {name: real(column) for name, column in named.items()},
        {str(name): real(column) for name, column in texts.items()},
        tuple(real(name) for pattern in patterns for name in _matching(pattern, known)),
        None if truth is None else real(truth),
    )
    if problems:
        raise ConfigError(problems)
    return chosen


def text_columns(section: Mapping[str, Any], from_files: bool) -> dict[str, str]:
    """What the parts of a text sample are called in samples: ``first_sequence``, ``second_sequence``, ``label``.

    Args:
        section: A data set's section.
        from_files: The samples are those of a file data set, which calls the label ``label``, and what is chosen by
            number as the part itself.
    """
    older = _older(section.get("col_index"))
    named = {
        "first_sequence": _first(section.get("first_sequence"), section.get("text_col"), older.get("text_col")),
        "second_sequence": section.get("second_sequence"),
        "label": _first(section.get("label"), section.get("label_col"), older.get("label_col")),
    }
    renamed = {part: part for part, name in named.items() if from_files and (part == "label" or isinstance(name, int))}
    return {part: str(renamed.get(part, name)) for part, name in named.items() if name is not None}


def named_texts(
    first_sequence: Column | None = None,
    second_sequence: Column | None = None,
    col_index: Mapping[str, Column] | Sequence[Column] | None = None,
    text_col: Column | None = None,
) -> list[Column]:
    """The columns that a config names as texts."""
    first = _first(first_sequence, text_col, _older(col_index).get("text_col"))
    return [column for column in (first, second_sequence) if column is not None]


def _older(col_index: Any) -> Mapping[str, Column]:
    """``text_col`` and ``label_col`` of ``col_index``."""
    if isinstance(col_index, Mapping):
        return col_index
    return dict(zip(("text_col", "label_col"), col_index or (), strict=False))


def _first(*given: Any) -> Any:
    return next((value for value in given if value is not None), None)


def _there(column: Any, known: Sequence[str]) -> Any:
    """A column that the table has; else None."""
    return column if column in known or column in range(len(known)) else None


def _matching(pattern: str, known: Sequence[str]) -> list[str]:
    return [name for name in known if fnmatchcase(name, pattern)] or [pattern]


def _absent(column: Any, known: Sequence[str], source: str) -> Problem:
    what = f"number {column}" if isinstance(column, int) else f"'{column}'"
    return Problem("file", f"{source} has no column {what}", ", ".join(known), nearest(column, known))
