"""A ``model`` that is named by its directory: in short form, or with the rest in the directory's own config."""

from __future__ import annotations

from pathlib import Path

from adapter.config.config import Config
from adapter.dialects.move import Move
from adapter.models.directory import named_directory, sections_in
from adapter.models.modelscope_model import means_modelscopes

FILLED = ("framework", "task", "preprocessor")  # sections that the directory's config says where the run's does not


def take_directory(config: Config) -> list[Move]:
    """Write ``model: DIR`` as ``model: {path: DIR}``, in place, and add what ModelScope's directory says of the model.

    That is its ``model`` section, and the task and the preprocessor where the config has none of its own.
    """
    moves = []
    if isinstance(config.get("model"), str):
        config["model"] = {"path": config["model"]}
        moves.append(Move("model", "model.path", "same"))
    section = config.get("model") or {}
    base_dir = Path(config.filename).parent if config.filename else None
    directory = named_directory(section, base_dir) if isinstance(section, dict) else None
    if directory is not None and means_modelscopes(section, directory):
        own = sections_in(directory)
        config["model"] = {**(own.get("model") or {}), **section}
        for name in FILLED:
            if config.get(name) is None and name in own:
                config[name] = own[name]
    return moves
