"""The local directory that a model is in, downloaded when its name is that of one on ModelScope's hub."""

from __future__ import annotations

import importlib.util
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from adapter.errors import ConfigError, Problem, nearest
from adapter.installed import has_modelscope

CONFIG_NAME = "configuration.json"


def model_directory(model: Any, revision: str | None = None) -> str | None:
    """The directory a trainer's ``model`` argument names; None for an object or nothing.

    Args:
        model: A local directory, or the name of a model on the hub, ``owner/name``.
        revision: Which version to download; the hub's default by default.

    Raises:
        ConfigError: No such directory, and ModelScope is not installed or cannot download it.
    """
    if not isinstance(model, (str, os.PathLike)):
        return None
    if os.path.isdir(model):
        return os.fspath(model)
    if not has_modelscope():
        found = f"'{model}' is no local directory, and ModelScope is not installed"
        fix = "pass the model's folder, or pip install 'ms-lightning-adapter[modelscope]' to download it"
        raise ConfigError(Problem("model", found, fix=fix, kind="file"))
    from modelscope.hub.snapshot_download import snapshot_download

    try:
        return str(snapshot_download(os.fspath(model), revision=revision))
    except Exception as error:  # a missing network raises many kinds
        raise ConfigError(Problem("model", f"'{model}' cannot be downloaded: {error}", kind="file")) from error


def config_in(directory: str | None) -> str | None:
    """The config file of a model directory; None without one."""
    path = os.path.join(directory, CONFIG_NAME) if directory else ""
    return path if os.path.isfile(path) else None


def find_model(path: str | os.PathLike[str], base_dir: str | Path | None = None) -> str:
    """The directory that a config's ``path`` means, from its own folder or the current one; else the name as it is.

    Raises:
        ConfigError: It can only be a directory, and there is none; names the nearest one.
    """
    name = os.path.expanduser(os.fspath(path))
    places = [Path(base_dir, name), Path(name)] if base_dir is not None else [Path(name)]
    found = next((place for place in places if place.is_dir()), None)
    if found is not None:
        return str(found)
    if os.path.isabs(name) or name.startswith(".") or name.count(os.sep) > 1:
        near = next((folder for folder in (place.parent for place in places) if folder.is_dir()), None)
        names = [each.name for each in near.iterdir() if each.is_dir()] if near else []
        fix = "check the path; a relative one starts from the config file's folder, or the current one"
        raise ConfigError(
            Problem("model.path", f"no such directory: {path}", "", nearest(Path(name).name, names), fix, kind="file")
        )
    return name


def architecture_of(directory: str | os.PathLike[str] | None) -> str | None:
    """The ``model_type`` in the ``config.json`` of a transformers model's directory; None for another directory."""
    path = Path(directory or "", "config.json")
    if not directory or not path.is_file():
        return None
    try:
        kind = json.loads(path.read_text(encoding="utf-8")).get("model_type")
    except (ValueError, AttributeError):
        return None
    return kind if isinstance(kind, str) else None


@cache
def architectures() -> frozenset[str]:
    """Names of the architectures of the transformers that is installed, without importing it."""
    spec = importlib.util.find_spec("transformers")
    folders = [Path(folder, "models") for folder in (spec.submodule_search_locations or ())] if spec else []
    names = {path.name for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_dir()}
    return frozenset(names | {name.replace("_", "-") for name in names})
