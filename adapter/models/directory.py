"""The local directory that a model is in, downloaded when its name is that of one on ModelScope's hub."""

from __future__ import annotations

import os
from typing import Any

from adapter.errors import ConfigError, Problem
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
