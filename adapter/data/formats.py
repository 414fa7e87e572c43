"""Formats of data files: which there are, and how the datasets library reads each."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adapter.errors import ConfigError, Problem, nearest

FORMATS = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "json", ".parquet": "parquet", ".txt": "text"}
# Only an empty cell is empty: words such as "null" and "NA" are text.
CELLS = {"keep_default_na": False, "na_values": [""]}
TABS = {"sep": "\t", "quoting": csv.QUOTE_NONE}  # a tab cannot stand in a cell, so that nothing has to be quoted
READERS: dict[str, tuple[str, dict[str, Any]]] = {
    "csv": ("csv", CELLS),
    "tsv": ("csv", {**CELLS, **TABS}),
    "json": ("json", {}),
    "parquet": ("parquet", {}),
    "text": ("text", {}),
}


def format_of(path: Path) -> str | None:
    """The format that a file name's ending stands for; None for another."""
    return FORMATS.get(path.suffix.lower())


def load_rows(
    file_format: str,
    paths: Sequence[Path],
    header: bool = True,
    streaming: bool = False,
    texts: Sequence[str | int] = (),
) -> Any:
    """The files' rows as a ``datasets.Dataset``, or an ``IterableDataset`` when they are streamed.

    Args:
        file_format: One of ``READERS``.
        paths: The files, read one after the other.
        header: Whether the first line of csv and tsv files names the columns; they are called 0, 1, ... without.
        streaming: Read the rows as they are asked for.
        texts: Columns of csv and tsv files that are text, whatever it looks like: 007 stays 007.

    Raises:
        ConfigError: A file that is missing (names the nearest one in its folder), that cannot be read, or that has no
            rows.
    """
    import datasets  # takes a second, and only data sets from files need it

    missing = [path for path in paths if not path.is_file()]
    if missing:
        raise ConfigError([missing_file(path) for path in missing])
    reader, options = READERS[file_format]
    if reader == "csv" and texts:
        options = {**options, "converters": dict.fromkeys(texts, _text_of)}
    if not header:
        options = {**options, "column_names": _numbered(paths[0], options)}
    files, names = [str(path) for path in paths], ", ".join(map(str, paths))
    if not any(path.stat().st_size for path in paths):
        raise ConfigError(_empty(names))
    try:
        with silence(datasets):
            rows = datasets.load_dataset(reader, data_files=files, split="train", streaming=streaming, **options)
    except (datasets.exceptions.DatasetGenerationError, ValueError, OSError) as error:
        reason = str(error.__cause__ or error).strip().split("\n")[0]
        if "no data" in reason:
            raise ConfigError(_empty(names)) from error
        found = f"cannot read {names} as {file_format}: {reason}"
        raise ConfigError(Problem("file", found, kind="file")) from error
    if not streaming and not rows.num_rows:
        raise ConfigError(_empty(names))
    if reader == "csv" and header:
        for path in paths:
            _refuse_wider_rows(path, options)
    return rows


def written_cells(file_format: str, paths: Sequence[Path], column: str, header: bool = True) -> list[str]:
    """A column of csv or tsv files as text, as it stands in them; without ``header`` by its number."""
    import pandas

    options = {**READERS[file_format][1], "dtype": str}
    options |= {"usecols": [column]} if header else {"usecols": [int(column)], "header": None}
    return [cell for path in paths for cell in pandas.read_csv(path, **options).iloc[:, 0].tolist()]


def _text_of(cell: str) -> str | None:
    """The text of a cell; None for an empty one."""
    return cell or None


@contextmanager
def silence(datasets: Any) -> Iterator[None]:
    """Keep the library's progress bars and messages off the console; what goes wrong is raised anyway."""
    bars, level = datasets.is_progress_bar_enabled(), datasets.logging.get_verbosity()
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)
    try:
        yield
    finally:
        datasets.logging.set_verbosity(level)
        if bars:
            datasets.enable_progress_bars()


def _numbered(path: Path, options: dict[str, Any]) -> list[str]:
    """Names for the columns of a file without a header line."""
    with path.open(newline="", encoding="utf-8") as file:
        first = next(csv.reader(file, delimiter=options.get("sep", ","), quoting=options.get("quoting", 0)), [])
    return [str(number) for number in range(len(first))]


def _refuse_wider_rows(path: Path, options: dict[str, Any]) -> None:
    """Refuse rows with more cells than there are names: pandas would take the first cells for names of the rows."""
    import pandas

    first = pandas.read_csv(path, nrows=1, **options)
    if len(first) and not isinstance(first.index, pandas.RangeIndex):
        names, cells = len(first.columns), len(first.columns) + first.index.nlevels
        found = f"{path} names {names} columns in its first line, but the next one has {cells} cells"
        fix = "quote cells with the separator in them, or name every column"
        raise ConfigError(Problem("file", found, fix=fix, kind="file"))


def _empty(names: str) -> Problem:
    return Problem("file", f"{names} is empty: there are no rows in it", kind="file")


def missing_file(path: Path) -> Problem:
    """A file that is not there, with the nearest name in its folder."""
    folder = path.parent
    names = [other.name for other in folder.iterdir()] if folder.is_dir() else []
    fix = "check the name; a relative one starts from the config file's folder"
    return Problem("file", f"no such file: {path}", nearest=nearest(path.name, names), fix=fix, kind="file")
