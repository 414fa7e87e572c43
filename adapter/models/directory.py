"""The local directory that a model is in: given in Python, named by a config, or the folder of the config itself."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from adapter.errors import ConfigError, Problem, nearest
from adapter.installed import PACKAGE, has_modelscope

CONFIG_NAME = "configuration.json"
WEIGHTS_NAMES = ("pytorch_model.bin", "model.safetensors")


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
        fix = (
            f"pass the model's folder, or pip install '{PACKAGE}' to download it; in a config, "
            "`model: {path: NAME}` is a model of transformers' hub"
        )
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


def weights_in(directory: str | os.PathLike[str] | None) -> list[Path]:
    """Where a model directory may have its weights; nowhere for None."""
    return [Path(directory, name) for name in WEIGHTS_NAMES] if directory is not None else []


def sections_in(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """What the ``configuration.json`` of a model directory says; empty without one that can be read."""
    try:
        found = json.loads(Path(directory, CONFIG_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # one that is read as the config itself is reported then
        return {}
    return found if isinstance(found, dict) else {}


def type_in(directory: str | os.PathLike[str]) -> str | None:
    """The type of model that the ``configuration.json`` of a directory names; None when it names none."""
    section = sections_in(directory).get("model")
    kind = section.get("type") if isinstance(section, Mapping) else None
    return kind if isinstance(kind, str) else None


def named_directory(section: Mapping[str, Any], base_dir: str | Path | None = None) -> str | None:
    """The directory that the ``path`` (``model_dir``) of a ``model`` section names, if there is such a directory."""
    path = section.get("path") or section.get("model_dir")
    if not isinstance(path, str):
        return None
    places = (Path(folder, os.path.expanduser(path)) for folder in (base_dir or "", ""))
    return next((str(place) for place in places if place.is_dir()), None)


def surrounding_directory(folder: str | Path) -> str | None:
    """The folder of a config, when it is a model's directory; else None.

    Such a one holds ``configuration.json`` and weights, or the ``config.json`` of a model of transformers.
    """
    if config_in(os.fspath(folder)) is None:
        return None
    has_weights = any(path.is_file() for path in weights_in(folder))
    return os.fspath(folder) if has_weights or architecture_of(folder) is not None else None


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
