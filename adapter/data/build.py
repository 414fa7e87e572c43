"""From the ``dataset`` section to data sets."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapter.data.dataset import Preprocessor, wrap_dataset
from adapter.data.named import NamedDataset
from adapter.errors import REFUSALS, ConfigError, Problem, reason_of
from adapter.registry import DATASETS, check_arguments


def build_dataset(
    dataset_cfg: Mapping[str, Any],
    mode: str,
    preprocessor: Preprocessor | None = None,
    base_dir: str | Path | None = None,
    key: str = "dataset",
) -> Any:
    """The data set under ``dataset.train`` or ``dataset.val``: ``{type, **arguments}``, or a list of such.

    Where a mode has no such section, ``dataset.name`` names the data and ``split_train`` or ``split_val`` (also
    ``split_eval``) the part of them.

    Args:
        dataset_cfg: The ``dataset`` section.
        mode: ``train`` or ``val``.
        preprocessor: Applied to each sample; None leaves samples as they are.
        base_dir: Folder that relative file names start from, the config file's; the current one by default.
        key: Where the section stands in the config, for error messages.

    Returns:
        The data sets of a list come one after the other; None when the section is absent or has no ``type``.

    Raises:
        ConfigError: Unknown type, arguments it does not take, or files that cannot be read.
    """
    section = dataset_cfg.get(mode)
    entries = section if isinstance(section, (list, tuple)) else [section]
    if not all(isinstance(entry, Mapping) and "type" in entry for entry in entries):
        named = _named(dataset_cfg, mode, base_dir, key)
        return None if named is None else wrap_dataset(named, preprocessor)
    keys = [f"{key}.{mode}[{i}]" if entries is section else f"{key}.{mode}" for i in range(len(entries))]
    built = [_build(entry, path, base_dir) for entry, path in zip(entries, keys, strict=True)]
    return wrap_dataset(built, preprocessor) if built else None


def _named(cfg: Mapping[str, Any], mode: str, base_dir: str | Path | None, key: str) -> Any:
    """The part of ``dataset.name`` that is for a mode; None when the section names none."""
    split = cfg.get(f"split_{mode}") or (cfg.get("split_eval") if mode == "val" else None)
    if not isinstance(cfg.get("name"), str) or not split:
        return None
    try:
        return NamedDataset(cfg["name"], split, cfg.get("subset_name"), base_dir)
    except ConfigError as error:
        raise ConfigError([_under(key, problem) for problem in error.problems]) from error


def _build(cfg: Mapping[str, Any], key: str, base_dir: str | Path | None) -> Any:
    """One data set; it gets ``base_dir`` if its constructor takes it."""
    args = dict(cfg)
    cls = DATASETS.resolve(args.pop("type"), f"{key}.type")
    if "base_dir" in inspect.signature(cls).parameters:
        args.setdefault("base_dir", base_dir)
    check_arguments(cls, args, key)
    try:
        return cls(**args)
    except ConfigError as error:
        raise ConfigError([_under(key, problem) for problem in error.problems]) from error
    except REFUSALS as error:
        raise ConfigError(Problem(key, f"{cfg['type']} cannot be built: {reason_of(error)}")) from error


def _under(key: str, problem: Problem) -> Problem:
    return replace(problem, key=f"{key}.{problem.key}" if problem.key else key)
