"""Data sets of type csv, json, parquet and text: rows of local files, as samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset

from adapter.errors import ConfigError, Problem, nearest
from adapter.registry import DATASETS

NUMBERS = ("int", "uint", "float", "double", "halffloat", "bool")  # Arrow's names of types, less their sizes


class FileDataset(Dataset[dict[str, Any]]):
    """Rows of local files as samples ``{name: value}``.

    Numbers become tensors, float32 or int64, and are kept in memory; other values stay as they are, in a
    memory-mapped cache of the file. Without ``columns``, ``features`` and ``label`` a sample has every column
    under its own name.

    Args:
        file: File name, or a list of them, read one after the other; relative ones start from ``base_dir``.
        columns: Name in the sample -> column of the file.
        features: Columns of numbers, or patterns such as ``pixel*`` (in the order of the file), that become
            one float32 tensor (columns,) called ``features``.
        label: Column of class numbers, called ``label`` in the sample.
        base_dir: Folder that relative file names start from; the current one by default.

    Raises:
        ConfigError: A file that is missing or cannot be read, an unknown column, or a column of features or
            labels with text or empty cells.
    """

    format = ""

    def __init__(
        self,
        file: str | Sequence[str],
        columns: Mapping[str, str] | None = None,
        features: str | Sequence[str] | None = None,
        label: str | None = None,
        base_dir: str | Path | None = None,
    ) -> None:
        self.paths = [Path(base_dir or ".", name) for name in ([file] if isinstance(file, str) else file)]
        self._take(load_rows(self.format, self.paths), columns, features, label)

    def _take(
        self,
        rows: Any,
        columns: Mapping[str, str] | None = None,
        features: str | Sequence[str] | None = None,
        label: str | None = None,
    ) -> None:
        """Keep the columns of ``rows`` that samples are made of."""
        self._rows = rows
        chosen = dict(columns or {})
        if not chosen and features is None and label is None:
            chosen = {name: name for name in self._rows.column_names}
        stacked = self._matching([features] if isinstance(features, str) else features or [])
        self._check_columns([*chosen.values(), *([] if label is None else [label])])
        self._tensors = {name: self._numeric(column) for name, column in chosen.items() if self._is_full(column)}
        if label is not None:
            self._tensors["label"] = self._numeric(label)
        if stacked:
            self._tensors["features"] = torch.stack([self._numeric(name).float() for name in stacked], dim=1)
        self._others = {name: column for name, column in chosen.items() if name not in self._tensors}

    def __len__(self) -> int:
        return self._rows.num_rows

    def __getitem__(self, index: int) -> dict[str, Any]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        sample: dict[str, Any] = {name: values[index] for name, values in self._tensors.items()}
        if self._others:
            row = self._rows[index]
            sample.update({name: row[column] for name, column in self._others.items()})
        return sample

    def _is_full(self, column: str) -> bool:
        """Whether a column holds a number in every row."""
        values = self._rows.data[column]
        return not values.null_count and str(values.type).rstrip("0123456789") in NUMBERS

    def _numeric(self, column: str) -> Tensor:
        values = self._rows.data[column]
        if not self._is_full(column):
            what = f"{values.null_count} empty cells" if values.null_count else f"{values.type} values"
            found = f"column '{column}' of {self.paths[0]} has {what}"
            raise ConfigError(Problem("file", found, allowed="numbers in every row"))
        tensor = torch.from_numpy(values.to_numpy().copy())
        return tensor.float() if tensor.is_floating_point() else tensor.long()

    def _matching(self, patterns: Sequence[str]) -> list[str]:
        found = []
        for pattern in patterns:
            names = [name for name in self._rows.column_names if fnmatchcase(name, pattern)]
            found += names or [pattern]
        self._check_columns(found)
        return found

    def _check_columns(self, names: Sequence[str]) -> None:
        known = self._rows.column_names
        problems = [
            Problem("file", f"{self.paths[0]} has no column '{name}'", ", ".join(known), nearest(name, known))
            for name in names
            if name not in known
        ]
        if problems:
            raise ConfigError(problems)


@DATASETS.register_module(module_name="csv")
class CsvDataset(FileDataset):
    """Rows of comma-separated files with a header line."""

    format = "csv"


@DATASETS.register_module(module_name="json")
class JsonDataset(FileDataset):
    """Objects of JSON files: one a line, or one list of them."""

    format = "json"


@DATASETS.register_module(module_name="parquet")
class ParquetDataset(FileDataset):
    """Rows of Parquet files."""

    format = "parquet"


@DATASETS.register_module(module_name="text")
class TextDataset(FileDataset):
    """Lines of text files; the only column is called ``text``."""

    format = "text"


def load_rows(file_format: str, paths: Sequence[Path]) -> Any:
    """The files' rows as a ``datasets.Dataset``.

    Raises:
        ConfigError: A file that is missing (names the nearest one in its folder) or that cannot be read.
    """
    import datasets  # takes a second, and only data sets from files need it

    missing = [path for path in paths if not path.is_file()]
    if missing:
        raise ConfigError([_missing(path) for path in missing])
    try:
        with silence(datasets):
            return datasets.load_dataset(file_format, data_files=[str(path) for path in paths], split="train")
    except (datasets.exceptions.DatasetGenerationError, ValueError, OSError) as error:
        names = ", ".join(map(str, paths))
        reason = str(error.__cause__ or error).strip().split("\n")[0]
        found = f"cannot read {names} as {file_format}: {reason}"
        raise ConfigError(Problem("file", found, kind="file")) from error


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


def _missing(path: Path) -> Problem:
    folder = path.parent
    names = [other.name for other in folder.iterdir()] if folder.is_dir() else []
    fix = "check the name; a relative one starts from the config file's folder"
    return Problem("file", f"no such file: {path}", nearest=nearest(path.name, names), fix=fix, kind="file")
