"""ModelScope's functions for what lies in a model's directory, and for logging."""

from __future__ import annotations

import logging
import os
from typing import Any

from adapter.config import Config
from adapter.errors import ConfigError, Problem
from adapter.models.directory import config_in, model_directory
from adapter.run_log import LINE, console_logger


def read_config(model_id_or_path: str | os.PathLike[str], revision: str | None = None) -> Config:
    """The config of a model directory, or a config file.

    Raises:
        ConfigError: There is none.
    """
    if os.path.isfile(model_id_or_path):
        return Config.from_file(model_id_or_path)
    path = config_in(model_directory(os.fspath(model_id_or_path), revision))
    if path is None:
        raise ConfigError(Problem("model", f"'{model_id_or_path}' holds no configuration.json", kind="file"))
    return Config.from_file(path)


def snapshot_download(model_id: str, revision: str | None = None, **options: Any) -> str:
    """The local directory of a model: downloaded by ModelScope, if it is installed, unless it is one already.

    Raises:
        ConfigError: It is no directory, and cannot be downloaded.
    """
    directory = model_directory(model_id, revision)
    assert directory is not None
    return directory


def get_logger(log_file: str | None = None, log_level: int = logging.INFO, file_mode: str = "w") -> logging.Logger:
    """The package's logger; with ``log_file`` it writes there as well."""
    logger = console_logger()
    logger.setLevel(log_level)
    if log_file is not None:
        handler = logging.FileHandler(log_file, mode=file_mode, encoding="utf-8")
        handler.setFormatter(logging.Formatter(LINE))
        logger.addHandler(handler)
    return logger
