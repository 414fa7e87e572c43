"""From a work directory to a folder that transformers, or torch alone, loads."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adapter.aside import folder_aside
from adapter.checkpoint import files
from adapter.checkpoint.output_folder import RESULT_NAME
from adapter.errors import ConfigError, Problem
from adapter.hooks.swift import SwiftHook

TRAINED = ("output", "output_best")  # folders of a work directory that hold a model, with its newest or best weights
ADAPTER_CONFIG = "adapter_config.json"


def export(work_dir: Path, out: Path, best: bool = False) -> list[str]:
    """Write a trained model to a folder of its own, which is there whole or not at all.

    For a model of transformers that is what ``from_pretrained`` loads, tokenizer included, with the weights as
    safetensors and adapters merged into them. Of another model it is its weights, a state dict, and its config.

    Args:
        work_dir: Of the run.
        out: Folder to write; it must be empty or absent.
        best: Take the best weights rather than the newest.

    Returns:
        Names of the files.

    Raises:
        ConfigError: The work directory holds no such weights or some that do not fit, or ``out`` is not empty.
    """
    source = work_dir / TRAINED[best]
    if not (source / files.WEIGHTS_NAME).is_file():
        there = [name for name in TRAINED if (work_dir / name / files.WEIGHTS_NAME).is_file()]
        found = f"no weights at {source / files.WEIGHTS_NAME}"
        raise ConfigError(
            Problem("WORK_DIR", found, ", ".join(there), fix="name the work directory of a run that saved")
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(Problem("--out", f"'{out}' is there already, and not empty", fix="name another folder"))
    weights = files.load(source / files.WEIGHTS_NAME, "weights")
    has_config = (source / "config.json").is_file()
    model = _transformers_model(source, weights, work_dir / SwiftHook.FOLDER) if has_config else None
    with folder_aside(out) as folder:
        for path in sorted(source.iterdir()):
            # transformers would put an adapter that it finds there on top of the weights that have it in them
            left = path.name in (files.WEIGHTS_NAME, RESULT_NAME) or path.name.startswith("adapter_")
            if path.is_file() and not left:
                shutil.copyfile(path, folder / path.name)
        if model is not None:
            model.save_pretrained(folder)
        else:
            files.save(weights, folder / files.WEIGHTS_NAME)
    return sorted(path.name for path in out.iterdir())


def _transformers_model(source: Path, weights: Mapping[str, Any], adapters: Path) -> Any:
    """The model with the weights, as its own class."""
    import transformers

    config = transformers.AutoConfig.from_pretrained(source)
    name = (config.architectures or [""])[0]
    cls = getattr(transformers, name, None)
    if cls is None:
        raise ConfigError(Problem("WORK_DIR", f"transformers has no class '{name}' to write the model with"))
    model = cls(config)
    try:
        if any(".base_layer." in name for name in weights):
            return _merged(model, weights, _adapter_folders(source, adapters))
        model.load_state_dict(weights)
    except RuntimeError as error:
        found = f"the weights do not fit {name}: {error}"
        raise ConfigError(Problem("WORK_DIR", found, fix="adapters that wrap the model cannot be merged")) from error
    return model


def _adapter_folders(source: Path, adapters: Path) -> dict[str, Path]:
    """Name to folder of each adapter's config: beside the weights, or where SwiftHook writes it."""
    found = {"default": source} if (source / ADAPTER_CONFIG).is_file() else {}
    for place in (source, adapters):
        found |= {path.parent.name: path.parent for path in sorted(place.glob(f"*/{ADAPTER_CONFIG}"))}
    if not found:
        raise ConfigError(Problem("WORK_DIR", f"there is no {ADAPTER_CONFIG} in {source} or below {adapters}"))
    return found


def _merged(model: Any, weights: Mapping[str, Any], folders: Mapping[str, Path]) -> Any:
    """The model with its adapters of peft merged into its own weights."""
    from peft import PeftConfig, get_peft_model

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers for what has another name there now
        (first, config), *others = ((name, PeftConfig.from_pretrained(str(place))) for name, place in folders.items())
        tuned = get_peft_model(model, config, adapter_name=first)
        for name, other in others:
            tuned.add_adapter(name, other)
        tuned.load_state_dict({f"base_model.model.{name}": value for name, value in weights.items()})
        return tuned.merge_and_unload(adapter_names=list(folders))
