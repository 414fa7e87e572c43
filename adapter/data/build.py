"""From the ``dataset`` section to data sets."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapter.data.columns import CHOICES
from adapter.data.dataset import Preprocessor, wrap_dataset
from adapter.data.files import FileDataset, FileStream
from adapter.data.formats import FORMATS, READERS, format_of
from adapter.data.named import NamedDataset
from adapter.errors import REFUSALS, ConfigError, Problem, reason_of
from adapter.registry import DATASETS, check_arguments


def build_dataset(
    dataset_cfg: Mapping[str, Any],
    mode: str,
    preprocessor: Preprocessor | None = None,
    base_dir: str | Path | None = None,
    key: str = "dataset",
    labels: Sequence[Any] | None = None,
    unlabeled: bool = False,
) -> Any:
    """The data set under ``dataset.train`` or ``dataset.val``: ``{type, **arguments}``, or a list of such.

    Without a ``type``, ``file`` is read as its ending says, and ``name``, ``subset``, ``split`` and ``hub`` are data
    by name.
    Where a mode has no such section, ``dataset.name`` names the data and ``split_train`` or ``split_val`` (also
    ``split_eval``) the part of them. Evaluation data whose section chooses no columns have those of the training data.

    Args:
        dataset_cfg: The ``dataset`` section.
        mode: ``train`` or ``val``.
        preprocessor: Applied to each sample; None leaves samples as they are.
        base_dir: Folder that relative file names start from, the config file's; the current one by default.
        key: Where the section stands in the config, for error messages.
        labels: Every label, for data sets that take ``labels`` and are not given them.
        unlabeled: Do without labels where there are none, for data sets that can.

    Returns:
        The data sets of a list come one after the other; None when the section is absent or describes no data.

    Raises:
        ConfigError: Unknown type, arguments it does not take, or files that cannot be read.
    """
    section = dataset_cfg.get(mode)
    entries = section if isinstance(section, (list, tuple)) else [section]
    if not all(map(describes_data, entries)):
        named = _named(dataset_cfg, mode, base_dir, key, labels, unlabeled)
        return None if named is None else wrap_dataset(named, preprocessor)
    keys = [f"{key}.{mode}[{i}]" if entries is section else f"{key}.{mode}" for i in range(len(entries))]
    full = [section_of(entry, dataset_cfg, mode) for entry in entries]
    built = [_build(entry, path, base_dir, labels, unlabeled) for entry, path in zip(full, keys, strict=True)]
    return wrap_dataset(built, preprocessor) if built else None


def describes_data(entry: Any) -> bool:
    """Whether a section says where data are: by type, file or name."""
    if not isinstance(entry, Mapping):
        return False
    named = any(isinstance(entry.get(name), (str, list, tuple)) for name in ("file", "name"))
    return named or entry.get("type") is not None


def label_values(dataset_cfg: Mapping[str, Any], base_dir: str | Path | None = None) -> list[Any]:
    """The distinct values of the training data's label, where they are data of the kinds in this folder."""
    section = dataset_cfg.get("train")
    entries = section if isinstance(section, (list, tuple)) else [section]
    if all(map(describes_data, entries)):
        classes = [_class_of(_given(entry or {}), "dataset.train", base_dir)[0] for entry in entries]
        if not all(hasattr(cls, "label_values") for cls in classes):
            return []
        data = [build_dataset({"train": entry}, "train", base_dir=base_dir) for entry in entries]
    else:
        named = build_dataset(dataset_cfg, "train", base_dir=base_dir)
        data = [] if named is None else [named]
    return [value for each in data for value in each.label_values()]


def section_of(entry: Any, dataset_cfg: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """A mode's section, with the columns of the training data for evaluation data that choose none of their own."""
    own = dict(entry) if isinstance(entry, Mapping) else {}
    train = dataset_cfg.get("train")
    first = train[0] if isinstance(train, (list, tuple)) and train else train
    if mode == "train" or not isinstance(first, Mapping) or any(own.get(name) is not None for name in CHOICES):
        return own
    return {**{name: first[name] for name in (*CHOICES, "header") if first.get(name) is not None}, **own}


def _named(
    cfg: Mapping[str, Any], mode: str, base_dir: Any, key: str, labels: Sequence[Any] | None, unlabeled: bool
) -> Any:
    """The part of ``dataset.name`` that is for a mode; None when the section names none."""
    split = cfg.get(f"split_{mode}") or (cfg.get("split_eval") if mode == "val" else None)
    if not isinstance(cfg.get("name"), str) or not split:
        return None
    section = section_of(cfg.get(mode), cfg, mode)
    columns = {name: section[name] for name in CHOICES if section.get(name) is not None}
    try:
        given = (cfg["name"], split, cfg.get("subset_name"), cfg.get("hub"), base_dir, labels, unlabeled)
        return NamedDataset(*given, **columns)
    except ConfigError as error:
        raise ConfigError([_under(key, problem) for problem in error.problems]) from error


def _build(
    cfg: Mapping[str, Any], key: str, base_dir: str | Path | None, labels: Sequence[Any] | None, unlabeled: bool
) -> Any:
    """One data set; it gets ``base_dir``, ``labels`` and ``unlabeled`` if its constructor takes them."""
    args = _given(cfg)
    cls, name = _class_of(args, key, base_dir)
    taken = inspect.signature(cls).parameters
    for argument, value in (("base_dir", base_dir), ("labels", labels), ("unlabeled", unlabeled or None)):
        if argument in taken and value is not None:
            args.setdefault(argument, value)
    check_arguments(cls, args, key)
    try:
        return cls(**args)
    except ConfigError as error:
        raise ConfigError([_under(key, problem) for problem in error.problems]) from error
    except REFUSALS as error:
        raise ConfigError(Problem(key, f"{name} cannot be built: {reason_of(error)}")) from error


def _given(cfg: Mapping[str, Any]) -> dict[str, Any]:
    """What a section says; null says nothing."""
    return {name: value for name, value in cfg.items() if value is not None}


def _class_of(args: dict[str, Any], key: str, base_dir: str | Path | None) -> tuple[Any, str]:
    """The class of a section and its name; what only chooses the class is taken out of ``args``."""
    kind = args.pop("type", None)
    if kind is None and "name" in args:
        args["subset_name"] = args.pop("subset", args.pop("subset_name", None))
        args.setdefault("split", "train")
        return NamedDataset, str(args["name"])
    kind = kind or _type_of(args["file"], key, base_dir)
    cls = DATASETS.resolve(kind, f"{key}.type")
    if args.pop("streaming", False):
        if not (inspect.isclass(cls) and issubclass(cls, FileDataset)):
            raise ConfigError(Problem(f"{key}.streaming", f"{kind} cannot be streamed", ", ".join(READERS)))
        args["file_format"] = cls.format
        return FileStream, f"a stream of {kind}"
    return cls, str(kind)


def _type_of(file: str | Sequence[str], key: str, base_dir: str | Path | None) -> str:
    """The type of files by their ending; a folder has none."""
    paths = [Path(base_dir or ".", name) for name in ([file] if isinstance(file, str) else file)]
    first, kind = paths[0], format_of(paths[0])
    other = next((path for path in paths if format_of(path) != kind), None)
    if kind is not None and other is not None:
        found = f"{first} and {other} are files of different kinds"
        fix = f"give each kind an entry of its own: {key}: [{{file: ...}}, {{file: ...}}]"
        raise ConfigError(Problem(f"{key}.file", found, fix=fix, kind="file"))
    if kind is None:
        found = f"'{first}' {'is a folder' if first.is_dir() else 'has none of the known endings'}"
        fix = "give `type`" if not first.is_dir() else "name a file of it, or give the folder as `name` with a `split`"
        raise ConfigError(Problem(f"{key}.file", found, ", ".join(FORMATS), fix=fix, kind="file"))
    return kind


def _under(key: str, problem: Problem) -> Problem:
    return replace(problem, key=f"{key}.{problem.key}" if problem.key else key)
