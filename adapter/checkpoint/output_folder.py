"""The output folder: the newest weights with everything an inference pipeline needs beside them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.aside import write_text
from adapter.checkpoint import files
from adapter.checkpoint.hub import without_tokens
from adapter.data.labels import declared_labels
from adapter.models.directory import find_model
from adapter.models.modelscope_model import without_place
from adapter.models.pretrained import TYPE as TRANSFORMERS
from adapter.models.pretrained import pretrained_section
from adapter.tuners import is_peft, merged_weights, save_tuners

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

CONFIG_NAME = "configuration.json"
RESULT_NAME = "eval_result.txt"
WEIGHT_SUFFIXES = (".bin", ".pt", ".pth", ".safetensors", ".ckpt", ".h5", ".msgpack", ".onnx")


def write_output(trainer: EpochBasedTrainer, folder: Path, weights: Path, trainable: bool = False) -> None:
    """Bring the output folder up to date.

    It holds ``pytorch_model.bin`` (the same file as ``weights``, linked), ``configuration.json``, ``eval_result.txt``
    (the last evaluation's values as JSON, ``null`` before the first), the model directory's other files, less hidden
    ones and weights, and what a model of transformers and its tokenizer are loaded from. A model with adapters of peft
    has them beside it, each alone; its ``pytorch_model.bin`` has merged weights when that is asked for.

    Args:
        trainer: The trainer.
        folder: The output folder.
        weights: The newest checkpoint's.
        trainable: Whether they are those of the trained parameters alone, which are no ``pytorch_model.bin``.
    """
    if not trainer.is_main_process:
        return
    write_text(json.dumps(trainer.metric_values), folder / RESULT_NAME)
    model = trainer.unwrap_module(trainer.model)
    if trainer.tuners and trainer.strategy.whole_parameters and all(map(is_peft, trainer.tuners.values())):
        save_tuners(model, trainer.tuners, folder, flat=True)
    if trainer.plan.tuners.merge:
        files.save(merged_weights(model), folder / files.WEIGHTS_NAME)
    elif trainable:
        (folder / files.WEIGHTS_NAME).unlink(missing_ok=True)
    else:
        files.link_or_copy(weights, folder / files.WEIGHTS_NAME)


def begin_output(trainer: EpochBasedTrainer, folder: Path) -> None:
    """Make the output folder, with everything that is known before there are weights."""
    if not trainer.is_main_process:
        return
    folder.mkdir(parents=True, exist_ok=True)
    if trainer.model_dir:
        copy_companions(Path(trainer.model_dir), folder)
    write_config(trainer, folder / CONFIG_NAME)
    save_companions(trainer, folder)


def write_config(trainer: EpochBasedTrainer, path: Path) -> None:
    """Write the config the run used, with the inference pipeline named after the task when it names none."""
    if "pipeline" not in trainer.cfg and trainer.cfg.get("task"):
        trainer.cfg.pipeline = {"type": trainer.cfg.task}
    values = in_output(trainer, without_tokens(trainer.cfg).to_dict())
    write_text(json.dumps(values, indent=4, ensure_ascii=False, default=str), path)


def in_output(trainer: EpochBasedTrainer, values: dict[str, Any]) -> dict[str, Any]:
    """A config as it holds in the output folder: the model, its tokenizer and the labels come from the folder itself.

    A model of which the folder has the adapters alone stays where it is.
    """
    if trainer.is_modelscopes:
        return without_place(values)
    model = pretrained_section(trainer.plan.model, trainer.model_dir)
    if model.get("type") == TRANSFORMERS and values.get("model"):
        whole = not trainer.tuners and not trainer.plan.saves_trainable_only
        base = find_model(model["path"], trainer.base_dir)
        values["model"].pop("model_dir", None)
        values["model"]["path"] = "." if whole else os.path.abspath(base) if os.path.isdir(base) else base
        for part in (values.get("preprocessor"), *_parts(values.get("preprocessor"))):
            if isinstance(part, dict) and "tokenizer_name" in part:
                part["tokenizer_name"] = "."
    if trainer.labels is not None and trainer.data_of_config and declared_labels(values) is None:
        section = values.setdefault("dataset", {}).setdefault("train", {})
        (section[0] if isinstance(section, list) else section)["labels"] = list(trainer.labels.names)
    return values


def _parts(preprocessor: Any) -> list[Any]:
    """The preprocessors of the modes, or of a list."""
    if isinstance(preprocessor, dict):
        return list(preprocessor.values())
    return preprocessor if isinstance(preprocessor, list) else []


def save_companions(trainer: EpochBasedTrainer, folder: Path) -> None:
    """Write the config of a model of transformers, with the labels, and the files of the preprocessor's tokenizer."""
    config = getattr(trainer.unwrap_module(trainer.model), "config", None)
    for part in (config, trainer.eval_preprocessor or trainer.train_preprocessor):
        save = getattr(part, "save_pretrained", None)
        if save is not None:
            save(folder)


def copy_companions(model_dir: Path, folder: Path) -> None:
    """Copy what lies in the model directory, less hidden files, weights, and what holds the folder itself."""
    for path in sorted(model_dir.iterdir()):
        target = folder / path.name
        if left_out(path.name) or target.exists() or folder.resolve().is_relative_to(path.resolve()):
            continue
        if path.is_dir():
            shutil.copytree(path, target, ignore=lambda _, names: [name for name in names if left_out(name)])
        else:
            shutil.copyfile(path, target)


def left_out(name: str) -> bool:
    """Whether a file or folder of the model directory stays there: hidden ones and weights do."""
    return name.startswith(".") or name.endswith(WEIGHT_SUFFIXES)
