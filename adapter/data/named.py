"""Data by name: a local file, a local folder with splits, or a data set of ModelScope's hub or Hugging Face's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from adapter.data.columns import choose_columns
from adapter.data.files import FileDataset
from adapter.data.formats import CELLS, format_of, load_rows, silence
from adapter.errors import ConfigError, Problem, nearest
from adapter.installed import PACKAGE, has_modelscope

Reader = Callable[[str, str, str | None, Mapping[str, Any]], Any]


class NamedDataset(FileDataset):
    """Rows of named data as samples ``{name: value}``, like those of :class:`FileDataset`.

    Args:
        name: See :func:`load_named`.
        split: Part of the data, such as ``train``.
        subset_name: Subset of the data; None for the only one.
        hub: See :func:`load_named`.
        base_dir: Folder that relative names start from; the current one by default.
        labels: Every label, in the order of their numbers.
        unlabeled: See :class:`FileDataset`.
        columns: Keys of ``choose_columns``; every column without any.

    Raises:
        ConfigError: They cannot be found or read, or lack a column.
    """

    def __init__(
        self,
        name: str,
        split: str,
        subset_name: str | None = None,
        hub: str | None = None,
        base_dir: str | Path | None = None,
        labels: Sequence[Any] | None = None,
        unlabeled: bool = False,
        **columns: Any,
    ) -> None:
        self.source = f"'{name}'"
        self._rows = load_named(name, split, subset_name, base_dir, hub)
        chosen = choose_columns(self._rows.column_names, self.source, unlabeled=unlabeled, **columns)
        self._take(chosen, labels, unlabeled)


def load_named(
    name: str,
    split: str = "train",
    subset_name: str | None = None,
    base_dir: str | Path | None = None,
    hub: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Rows of named data as a ``datasets.Dataset``.

    Args:
        name: A local file, all of which is the split; a local folder with a file or folder a split, or one that
            ``save_to_disk`` wrote; or a data set of a hub.
        split: Part of the data.
        subset_name: Subset of the data; None for the only one.
        base_dir: Folder that relative names start from.
        hub: ``modelscope``, for which ModelScope has to be installed, or ``huggingface``; None takes local data as they
            are, and other names from ModelScope's hub where it is installed, else from Hugging Face's.
        options: Other arguments for ModelScope's ``MsDataset.load``.

    Raises:
        ConfigError: They cannot be found or read.
    """
    place = Path(base_dir or ".", name)
    file_format = format_of(place)
    if hub is None and place.is_file() and file_format:
        return load_rows(file_format, [place])
    reader = _reader(hub, place)
    try:
        return reader(str(place) if place.is_dir() else name, split, subset_name, options or {})
    except Exception as error:  # the libraries raise many kinds, those of a missing network among them
        found = f"cannot read the split '{split}' of '{name}': {str(error).strip()}"
        fix = "" if place.is_dir() else FIXES[reader]
        raise ConfigError(Problem("name", found, fix=fix, kind="file")) from error


def _reader(hub: str | None, place: Path) -> Reader:
    """What reads a folder or a name.

    Raises:
        ConfigError: No such hub, or ModelScope is not installed.
    """
    if hub not in (None, *HUBS):
        raise ConfigError(Problem("hub", f"found {hub!r}", ", ".join(HUBS), nearest(str(hub), HUBS)))
    if hub == "modelscope" and not has_modelscope():
        raise ConfigError(Problem("hub", "ModelScope is not installed", fix=f"pip install '{PACKAGE}'", kind="name"))
    if hub is None and place.is_dir():
        return _load_folder
    return HUBS[hub or ("modelscope" if has_modelscope() else "huggingface")]


def _load_folder(name: str, split: str, subset_name: str | None, options: Mapping[str, Any]) -> Any:
    """From files, or from what a data set's own ``save_to_disk`` wrote."""
    import datasets

    with silence(datasets):
        if any(Path(name, saved).is_file() for saved in ("state.json", "dataset_dict.json")):
            loaded = datasets.load_from_disk(name)
            if not isinstance(loaded, datasets.DatasetDict):
                return loaded
            if split not in loaded:
                raise ValueError(f"there is no such split; it has {', '.join(loaded)}")
            return loaded[split]
        # The folder's whole name is that of the data, which '.' has none of.
        return datasets.load_dataset(str(Path(name).resolve()), name=subset_name, split=split, **_options_of(name))


def _options_of(folder: str) -> dict[str, Any]:
    """Options for the reader of a folder: its csv files are read as those that are named."""
    kinds = {format_of(path) for path in Path(folder).rglob("*")} - {None}
    return CELLS if kinds == {"csv"} else {}


def _load_huggingface(name: str, split: str, subset_name: str | None, options: Mapping[str, Any]) -> Any:
    import datasets

    with silence(datasets):
        return datasets.load_dataset(name, name=subset_name, split=split)


def _load_modelscope(name: str, split: str, subset_name: str | None, options: Mapping[str, Any]) -> Any:
    from modelscope.msdatasets import MsDataset

    rows = MsDataset.load(name, split=split, subset_name=subset_name, **options)
    return rows.to_hf_dataset() if hasattr(rows, "to_hf_dataset") else rows


HUBS: Mapping[str, Reader] = {"modelscope": _load_modelscope, "huggingface": _load_huggingface}
FIXES: Mapping[Reader, str] = {
    _load_modelscope: "check the name, the split and the network; without one, give the folder that "
    "`modelscope download --dataset NAME --local_dir FOLDER` wrote; `hub: huggingface` is for Hugging Face's",
    _load_huggingface: "check the name, the split and the network; without one, give a folder of files or of "
    f"save_to_disk; for names of ModelScope's hub, pip install '{PACKAGE}'",
}
