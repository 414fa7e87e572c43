"""The flat legacy style, which names a few settings directly in ``train`` and ``evaluation``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapter.config.config import Config
from adapter.config.paths import MISSING
from adapter.dialects.move import Move, has_room

# Old key, documented key, why that one.
PLAIN = (
    ("train.batch_size", "train.dataloader.batch_size_per_gpu", ""),
    ("evaluation.batch_size", "evaluation.dataloader.batch_size_per_gpu", ""),
    ("train.learning_rate", "train.optimizer.lr", "of AdamW unless an optimizer is named"),
    ("train.lr_scheduler_type", "train.lr_scheduler.type", "as the class of that shape"),
    ("dataset.valid", "dataset.val", ""),
)
LENGTH = ("evaluation.max_sequence_length", "preprocessor.max_length", "of training, too")
CLASSES = ("model.num_classes", "model.num_labels", "")
# Values that such files repeat from their model's own config, often another model's: with a `path` they have no effect.
REPEATED = (
    "bos_token_id",
    "eos_token_id",
    "hidden_act",
    "hidden_size",
    "intermediate_size",
    "layer_norm_eps",
    "max_position_embeddings",
    "model_type",
    "num_attention_heads",
    "num_hidden_layers",
    "pad_token_id",
    "type_vocab_size",
    "vocab_size",
)
DEFAULT_OPTIMIZER = "AdamW"  # what trainers that use these keys take when none is named

# Old name of a schedule -> the class with its arguments, and the argument that holds its length.
SCHEDULES: Mapping[str, tuple[dict[str, Any], str]] = {
    "linear": ({"type": "LinearLR", "start_factor": 1.0, "end_factor": 0.0}, "total_iters"),
    "cosine": ({"type": "CosineAnnealingLR"}, "T_max"),
    "polynomial": ({"type": "PolynomialLR"}, "total_iters"),
    "constant": ({"type": "ConstantLR", "factor": 1.0}, "total_iters"),
}


def move_flat_keys(config: Config) -> list[Move]:
    """Move the flat keys to the documented ones, in place; a documented key that is there already wins."""
    schedule, length = SCHEDULES.get(str(config.safe_get("train.lr_scheduler_type")), ({}, ""))
    tokenizes = config.safe_get("preprocessor.type") is not None
    table = (*PLAIN, LENGTH) if tokenizes else PLAIN
    moves = [move for key, to, reason in table if (move := _move(config, key, to, reason))]
    targets = [move.to for move in moves]
    if "train.optimizer.lr" in targets:
        config.train.optimizer.setdefault("type", DEFAULT_OPTIMIZER)
    if "train.lr_scheduler.type" in targets:
        config.train.lr_scheduler.update(schedule)
    else:
        length = ""
    moves += _set_length(config, length)
    if any(move.key.startswith("train.") for move in moves) and config.safe_get("model.path") is not None:
        moves += _move_model(config)
    return moves


def _move_model(config: Config) -> list[Move]:
    """What a model that is read from its folder leaves of the values beside its ``path``."""
    found = [f"model.{name}" for name in REPEATED if config.safe_get(f"model.{name}", MISSING) is not MISSING]
    for key in found:
        _pop(config, key)
    dropped = [Move(key, "", "dropped", "as the model's own folder says") for key in found]
    classes = _move(config, *CLASSES)
    return [*dropped, classes] if classes else dropped


def _move(config: Config, key: str, to: str, reason: str) -> Move | None:
    """Move one key; None when it is not there, or what stands at its new place is no section."""
    value = config.safe_get(key, MISSING)
    if value is MISSING or not has_room(config, to):
        return None
    given = config.safe_get(to) is not None
    if not given:
        config.merge_from_dict({to: value})
    _pop(config, key)
    return Move(key, "", "dropped", f"{to} is given too, and wins") if given else Move(key, to, "moved", reason)


def _set_length(config: Config, length: str) -> list[Move]:
    """Give the schedule its length: ``num_steps``, which counts iterations, else ``max_epochs``.

    Where nothing else says how long the run is, ``num_steps`` stays, and does.
    """
    steps, epochs = config.safe_get("train.num_steps", MISSING), config.safe_get("train.max_epochs")
    to = f"train.lr_scheduler.{length}" if length else ""
    if steps is MISSING:
        if to and epochs is not None:
            config.merge_from_dict({to: epochs})
        return []
    if to:
        config.merge_from_dict({to: steps, "train.lr_scheduler.options.by_epoch": False})
    if epochs is None:
        return []
    _pop(config, "train.num_steps")
    if not to:
        return [Move("train.num_steps", "", "dropped", "the length of a run is train.max_epochs")]
    return [Move("train.num_steps", to, "moved", "in iterations; the length of the run is train.max_epochs")]


def _pop(config: Config, key: str) -> None:
    parent, _, name = key.rpartition(".")
    config.safe_get(parent).pop(name)
