"""Data sets of type csv, tsv, json, parquet and text: rows of local files, as samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset, IterableDataset

from adapter.data.columns import Column, Columns, choose_columns, named_texts
from adapter.data.formats import load_rows, written_cells
from adapter.data.labels import Labels
from adapter.errors import ConfigError, Problem
from adapter.registry import DATASETS

TEXTS = ("first_sequence", "second_sequence", "col_index", "text_col")  # keys that name columns of text
NUMBERS = ("int", "uint", "float", "double", "halffloat", "bool")  # Arrow's names of types, less their sizes


class FileDataset(Dataset[dict[str, Any]]):
    """Rows of local files as samples ``{name: value}``.

    Numbers become tensors, float32 or int64, and are kept in memory; other values stay as they are, in a
    memory-mapped cache of the file. Without ``columns``, ``features``, ``label`` and texts a sample has every column
    under its own name.

    Args:
        file: File name, or a list of them, read one after the other; relative ones start from ``base_dir``.
        columns: Name in the sample -> column of the file.
        features: Columns of numbers, or patterns such as ``pixel*`` (in the order of the file), that become
            one float32 tensor (columns,) called ``features``.
        label: Column called ``label`` in the sample; with ``labels`` its values become their numbers.
        labels: Every label, in the order of their numbers.
        first_sequence: Column of the text, which keeps its name; one given by number is called ``first_sequence``.
        second_sequence: The same of a second text.
        col_index: ``text_col`` and ``label_col`` together, older names of ``first_sequence`` and ``label``.
        text_col: See ``col_index``.
        label_col: See ``col_index``.
        header: Whether the first line of csv and tsv files names the columns; they are called 0, 1, ... without.
        base_dir: Folder that relative file names start from; the current one by default.
        unlabeled: Do without labels where the column is absent, has empty cells, or others than those of the list.

    Raises:
        ConfigError: A file that is missing, empty or cannot be read, an unknown column, a column of features with text
            or empty cells, or a label that is not in the list.
    """

    format = ""

    def __init__(
        self,
        file: str | Sequence[str],
        columns: Mapping[str, Column] | None = None,
        features: str | Sequence[str] | None = None,
        label: Column | None = None,
        labels: Sequence[Any] | None = None,
        first_sequence: Column | None = None,
        second_sequence: Column | None = None,
        col_index: Mapping[str, Column] | Sequence[Column] | None = None,
        text_col: Column | None = None,
        label_col: Column | None = None,
        header: bool = True,
        base_dir: str | Path | None = None,
        unlabeled: bool = False,
    ) -> None:
        paths = [Path(base_dir or ".", name) for name in ([file] if isinstance(file, str) else file)]
        texts = named_texts(first_sequence, second_sequence, col_index, text_col)
        self._rows = load_rows(self.format, paths, header, texts=texts)
        self.source, self._paths, self._header = str(paths[0]), paths, header
        asked = (columns, features, label, first_sequence, second_sequence, col_index, text_col, label_col, unlabeled)
        self._take(choose_columns(self._rows.column_names, self.source, *asked), labels, unlabeled)

    def _take(self, chosen: Columns, labels: Sequence[Any] | None, unlabeled: bool) -> None:
        """Keep the columns that samples are made of, the numbers among them as tensors."""
        if unlabeled and chosen.label is not None and not self._is_labeled(chosen.label, labels):
            chosen = replace(chosen, label=None)
        self.chosen = chosen
        self._tensors = {name: self._numeric(column) for name, column in chosen.values.items() if self._is_full(column)}
        if chosen.label is not None:
            truth = self._truth(chosen.label, labels)
            if truth is not None:
                self._tensors["label"] = truth
        if chosen.features:
            self._tensors["features"] = torch.stack([self._numeric(name).float() for name in chosen.features], dim=1)
        others = {**chosen.values, **chosen.texts, **({"label": chosen.label} if chosen.label is not None else {})}
        self._others = {name: column for name, column in others.items() if name not in self._tensors}

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

    @property
    def names(self) -> list[str]:
        """Names of what a sample holds."""
        return [*self._tensors, *self._others]

    def label_values(self) -> list[Any]:
        """The distinct values of the label's column, and of lists in it; empty without one."""
        if self.chosen.label is None:
            return []
        values = self._labels_of(self.chosen.label, None)
        return (values.combine_chunks().flatten() if "list" in str(values.type) else values).unique().to_pylist()

    def table(self, names: Sequence[str]) -> Any:
        """Some of a sample's names, of every row, as a ``datasets.Dataset``; the label as samples have it."""
        columns = {name: self._others[name] for name in names if name in self._others}
        rows = self._rows.select_columns(list(dict.fromkeys(columns.values())))
        rows = rows.rename_columns({column: name for name, column in columns.items() if column != name})
        for name in names:
            if name in self._tensors:
                rows = rows.add_column(name, self._tensors[name].tolist())
        return rows

    def _labels_of(self, column: str, labels: Sequence[Any] | None) -> Any:
        """A column of labels, as an array of Arrow's.

        Args:
            column: Its name.
            labels: Those that are listed.

        Raises:
            ConfigError: Its values are of several kinds.
        """
        values = self._rows.data[column]
        if "extension" in str(values.type):
            found = f"column '{column}' of {self.source} has values of several kinds"
            raise ConfigError(Problem("label", found, allowed="text in every row, or a number in every row"))
        return values

    def _is_labeled(self, column: str, labels: Sequence[Any] | None) -> bool:
        """Whether a column has a label of the list in every row."""
        try:
            self._truth(column, labels)
        except ConfigError:
            return False
        return True

    def _truth(self, column: str, labels: Sequence[Any] | None) -> Tensor | None:
        """The labels as numbers; None for text that no list of labels numbers."""
        where = f"column '{column}' of {self.source}"
        values = self._rows.data[column]
        if values.null_count:
            found = f"{where} has {_empty_cells(values.null_count)}"
            raise ConfigError(Problem("label", found, allowed="a label in every row"))
        if labels is not None:
            return torch.tensor(Labels(tuple(labels)).encode(self._labels_of(column, labels).to_pylist(), where))
        return self._numeric(column) if self._is_full(column) else None

    def _is_full(self, column: str) -> bool:
        """Whether a column holds a number in every row."""
        values = self._rows.data[column]
        return not values.null_count and str(values.type).rstrip("0123456789") in NUMBERS

    def _numeric(self, column: str) -> Tensor:
        values = self._rows.data[column]
        if not self._is_full(column):
            kind = "text" if "string" in str(values.type) else f"{values.type} values"
            what = _empty_cells(values.null_count) if values.null_count else kind
            found = f"column '{column}' of {self.source} has {what}"
            raise ConfigError(Problem("file", found, allowed="numbers in every row"))
        tensor = torch.from_numpy(values.to_numpy().copy())
        return tensor.float() if tensor.is_floating_point() else tensor.long()


def _empty_cells(count: int) -> str:
    return "an empty cell" if count == 1 else f"{count} empty cells"


class FileStream(IterableDataset[dict[str, Any]]):
    """Rows of local files as samples, read as they are asked for: data that need not fit on the disk twice.

    The length is not known, so that a run needs ``train_iters_per_epoch``.

    Args:
        file_format: ``csv``, ``tsv``, ``json``, ``parquet`` or ``text``.
        file: See :class:`FileDataset`, as for the others; ``features`` are not made.
        labels: See :class:`FileDataset`.
        shuffle_buffer: Samples that are held to draw the next one from; 0 keeps the order of the file.
        header: See :class:`FileDataset`.
        base_dir: See :class:`FileDataset`.
        unlabeled: Do without labels where the column is absent.
        columns: Keys of ``choose_columns``.

    Raises:
        ConfigError: A file that is missing, empty or cannot be read, or an unknown column; in the middle of the data, a
            label that is not in the list.
    """

    def __init__(
        self,
        file_format: str,
        file: str | Sequence[str],
        labels: Sequence[Any] | None = None,
        shuffle_buffer: int = 0,
        header: bool = True,
        base_dir: str | Path | None = None,
        unlabeled: bool = False,
        **columns: Any,
    ) -> None:
        paths = [Path(base_dir or ".", name) for name in ([file] if isinstance(file, str) else file)]
        self.source = str(paths[0])
        texts = named_texts(**{name: columns.get(name) for name in TEXTS})
        self._rows = load_rows(file_format, paths, header, streaming=True, texts=texts)
        rows = iter(self._rows)
        known = list(next(rows, {}))
        rows.close()
        self.chosen = choose_columns(known, self.source, unlabeled=unlabeled, **columns)
        self._labels = None if labels is None else Labels(tuple(labels))
        self._shuffle_buffer, self._epoch = shuffle_buffer, 0

    def set_epoch(self, epoch: int) -> None:
        """Draw another order in each epoch."""
        self._epoch = epoch

    def __iter__(self) -> Iterator[dict[str, Any]]:
        rows = self._rows
        if self._shuffle_buffer:
            rows = rows.shuffle(seed=self._epoch, buffer_size=self._shuffle_buffer)
        chosen = {**self.chosen.values, **self.chosen.texts}
        for number, row in enumerate(rows):
            sample = {name: row[column] for name, column in chosen.items()}
            if self.chosen.label is not None:
                sample["label"] = self._truth(row[self.chosen.label], number)
            yield sample

    def _truth(self, value: Any, number: int) -> Any:
        if self._labels is None:
            return value
        where = f"column '{self.chosen.label}' of {self.source}"
        return torch.tensor(self._labels.encode([value], where, first=number)[0])


class SeparatedDataset(FileDataset):
    """Rows of files of which only the reader decides what is a number."""

    def _labels_of(self, column: str, labels: Sequence[Any] | None) -> Any:
        """A column of labels; numbers that are written with more than their digits, such as 01, are names.

        Where labels are listed without those names, they are numbers.
        """
        import pyarrow

        values = super()._labels_of(column, labels)
        if not str(values.type).startswith("int") or values.null_count:
            return values
        written = pyarrow.chunked_array([written_cells(self.format, self._paths, column, self._header)])
        listed = labels is None or set(map(str, labels)).issuperset(written.unique().to_pylist())
        return written if listed and not written.equals(values.cast(written.type)) else values


@DATASETS.register_module(module_name="csv")
class CsvDataset(SeparatedDataset):
    """Rows of comma-separated files."""

    format = "csv"


@DATASETS.register_module(module_name="tsv")
class TsvDataset(SeparatedDataset):
    """Rows of files with a tab between columns, in which quotation marks mean themselves."""

    format = "tsv"


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
