"""Data by name: a local file, a local folder with splits, or a data set of ModelScope's hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adapter.data.columns import choose_columns
from adapter.data.files import FileDataset
from adapter.data.formats import FORMATS, format_of, load_rows, silence
from adapter.errors import ConfigError, Problem
from adapter.installed import has_modelscope


class NamedDataset(FileDataset):
    """Rows of named data as samples ``{name: value}``, like those of :class:`FileDataset`.

    Args:
        name: See :func:`load_named`.
        split: Part of the data, such as ``train``.
        subset_name: Subset of the data; None for the only one.
        base_dir: Folder that relative names start from; the current one by default.
        labels: Every label, in the order of their numbers.
        columns: Keys of ``choose_columns``; every column without any.

    Raises:
        ConfigError: They cannot be found or read, or lack a column.
    """

    def __init__(
        self,
        name: str,
        split: str,
        subset_name: str | None = None,
        base_dir: str | Path | None = None,
        labels: Sequence[Any] | None = None,
        **columns: Any,
    ) -> None:
        self.source = f"'{name}'"
        self._rows = load_named(name, split, subset_name, base_dir)
        self._take(choose_columns(self._rows.column_names, self.source, **columns), labels)


def load_named(
    name: str,
    split: str = "train",
    subset_name: str | None = None,
    base_dir: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Rows of named data as a ``datasets.Dataset``.

    Args:
        name: A local file, all of which is the split; a local folder with a file or folder a split; or a data set of
            ModelScope's hub, for which ModelScope has to be installed.
        split: Part of the data.
        subset_name: Subset of the data; None for the only one.
        base_dir: Folder that relative names start from.
        options: Other arguments for ModelScope's ``MsDataset.load``.

    Raises:
        ConfigError: They cannot be found or read.
    """
    place = Path(base_dir or ".", name)
    file_format = format_of(place)
    if place.is_file() and file_format:
        return load_rows(file_format, [place])
    if not place.is_dir() and not has_modelscope():
        found = f"'{name}' is no local file ({', '.join(FORMATS)}) or folder, and ModelScope is not installed"
        fix = "check the name, or pip install 'ms-lightning-adapter[modelscope]' for data of its hub"
        raise ConfigError(Problem("name", found, fix=fix, kind="file"))
    try:
        return (
            _load_folder(place, split, subset_name) if place.is_dir() else _load_hub(name, split, subset_name, options)
        )
    except Exception as error:  # the libraries raise many kinds, those of a missing network among them
        found = f"cannot read the split '{split}' of '{name}': {str(error).strip()}"
        raise ConfigError(Problem("name", found, kind="file")) from error


def _load_folder(place: Path, split: str, subset_name: str | None) -> Any:
    import datasets

    with silence(datasets):
        return datasets.load_dataset(str(place), name=subset_name, split=split)


def _load_hub(name: str, split: str, subset_name: str | None, options: Mapping[str, Any] | None) -> Any:
    from modelscope.msdatasets import MsDataset

    rows = MsDataset.load(name, split=split, subset_name=subset_name, **(options or {}))
    return rows.to_hf_dataset() if hasattr(rows, "to_hf_dataset") else rows
