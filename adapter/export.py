"""From a work directory to a folder that transformers, or torch alone, loads."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adapter.checkpoint import files
from adapter.checkpoint.output_folder import RESULT_NAME, WEIGHTS_NAME
from adapter.errors import ConfigError, Problem
from adapter.hooks.swift import SwiftHook

TRAINED = ("output", "output_best")  # folders of a work directory that hold a model, with its newest or best weights


def export(work_dir: Path, out: Path, best: bool = False) -> list[str]:
    """Write a trained model to a folder of its own.

    For a model of transformers that is what ``from_pretrained`` loads, tokenizer included, with the weights as
    safetensors and adapters merged into them. Of another model it is its weights, a state dict, and its config.

    Args:
        work_dir: Of the run.
        out: Folder to write; it must be empty or absent.
        best: Take the best weights rather than the newest.

    Returns:
        Names of the files.

    Raises:
        ConfigError: The work directory holds no such weights, or ``out`` is not empty.
    """
    source = work_dir / TRAINED[best]
    if not (source / WEIGHTS_NAME).is_file():
        there = [name for name in TRAINED if (work_dir / name / WEIGHTS_NAME).is_file()]
        found = f"no weights at {source / WEIGHTS_NAME}"
        raise ConfigError(
            Problem("WORK_DIR", found, ", ".join(there), fix="name the work directory of a run that saved")
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(Problem("--out", f"'{out}' is there already, and not empty", fix="name another folder"))
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        # transformers would put an adapter that it finds there on top of the weights that have it in them
        if path.is_file() and path.name not in (WEIGHTS_NAME, RESULT_NAME) and not path.name.startswith("adapter_"):
            shutil.copyfile(path, out / path.name)
    weights = files.load(source / WEIGHTS_NAME, "weights")
    if (source / "config.json").is_file():
        _save_transformers(source, weights, work_dir / SwiftHook.FOLDER, out)
    else:
        files.save(weights, out / WEIGHTS_NAME)
    return sorted(path.name for path in out.iterdir())


def _save_transformers(source: Path, weights: Mapping[str, Any], adapters: Path, out: Path) -> None:
    """Write the weights as the model's own class does."""
    import transformers

    config = transformers.AutoConfig.from_pretrained(source)
    name = (config.architectures or [""])[0]
    cls = getattr(transformers, name, None)
    if cls is None:
        raise ConfigError(Problem("WORK_DIR", f"transformers has no class '{name}' to write the model with"))
    model = cls(config)
    if any(".base_layer." in name for name in weights):
        model = _merged(model, weights, adapters)
    else:
        model.load_state_dict(weights)
    model.save_pretrained(out)


def _merged(model: Any, weights: Mapping[str, Any], adapters: Path) -> Any:
    """The model with its adapters of peft merged into its own weights."""
    folders = sorted(path.parent for path in adapters.glob("*/adapter_config.json"))
    if not folders:
        fix = 'add {"type": "SwiftHook"} to train.hooks, which writes them'
        raise ConfigError(Problem("WORK_DIR", f"there are no configs of the adapters below {adapters}", fix=fix))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers for what has another name there now
        return _merge(model, weights, folders)


def _merge(model: Any, weights: Mapping[str, Any], folders: Sequence[Path]) -> Any:
    from peft import PeftConfig, get_peft_model

    first, *others = (PeftConfig.from_pretrained(str(folder)) for folder in folders)
    tuned = get_peft_model(model, first, adapter_name=folders[0].name)
    for folder, config in zip(folders[1:], others, strict=True):
        tuned.add_adapter(folder.name, config)
    tuned.load_state_dict({f"base_model.model.{name}": value for name, value in weights.items()})
    return tuned.merge_and_unload(adapter_names=[folder.name for folder in folders])
