"""The loss of a classifier, from the ``head`` section of its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from adapter.errors import REFUSALS, ConfigError, Problem, nearest, reason_of
from adapter.registry import check_arguments

SMOOTHED = "CrossEntropyLossWithLabelSmooth"  # EasyCV's, which smooths by 0.1 unless told otherwise
LOSSES = ("CrossEntropyLoss", SMOOTHED, "MultiMarginLoss")
SMOOTHING = ("label_smoothing", "label_smooth")
KEYS = ("type", "num_classes", "in_channels", "with_avg_pool", "loss", "loss_config", *SMOOTHING)


def build_loss(head: Mapping[str, Any], key: str = "model.head") -> nn.Module:
    """From scores (batch, classes) and class numbers (batch,) to a scalar.

    Args:
        head: ``loss`` or ``loss_config``, the name of a loss or ``{type, **arguments}``, cross entropy by default;
            ``label_smoothing`` or ``label_smooth``, from 0 to 1, here or among the arguments.
        key: Where the section stands in the config.

    Raises:
        ConfigError: A key that nothing reads, an unknown loss, or arguments that it does not take or refuses.
    """
    unknown = [name for name in head if name not in KEYS]
    if unknown:
        raise ConfigError([_unread(f"{key}.{name}", name) for name in unknown])
    name = "loss_config" if head.get("loss_config") else "loss"
    given, where = head.get(name) or LOSSES[0], f"{key}.{name}"
    args = {"type": given} if isinstance(given, str) else dict(given)
    args.update({option: head[option] for option in SMOOTHING if option in head})
    kind = args.pop("type", LOSSES[0])
    if kind not in LOSSES:
        problem = Problem(where, f"unknown loss '{kind}'", ", ".join(LOSSES), nearest(kind, LOSSES), kind="name")
        raise ConfigError(problem)
    if kind == SMOOTHED:
        kind, args = LOSSES[0], {"label_smooth": 0.1, **args}
    if "label_smooth" in args:
        args["label_smoothing"] = args.pop("label_smooth")
    if isinstance(args.get("weight"), (list, tuple)):
        args["weight"] = torch.tensor(args["weight"], dtype=torch.float32)
    check_arguments(getattr(nn, kind), args, where)
    try:
        return _tried(getattr(nn, kind)(**args))
    except REFUSALS as error:
        raise ConfigError(Problem(where, f"{kind} cannot be built: {reason_of(error)}")) from error


def loss_of(loss: Callable[[Tensor, Tensor], Tensor], logits: Tensor, label: Tensor) -> Tensor:
    """The loss of a batch.

    Raises:
        ConfigError: Labels that are no numbers of the model's classes.
    """
    try:
        return loss(logits, label)
    except (IndexError, RuntimeError) as error:  # a number out of range; shapes or types that do not fit
        found = f"{logits.shape[-1]}, but the labels of the data are no classes from 0 on: {error}"
        raise ConfigError(Problem("model.num_classes", found)) from error


def _tried(loss: nn.Module) -> nn.Module:
    """The loss, which has refused no value of its arguments when it is used."""
    classes = len(loss.weight) if isinstance(loss.weight, Tensor) else 2
    loss(torch.zeros(1, classes), torch.zeros(1, dtype=torch.long))
    return loss


def _unread(key: str, name: str) -> Problem:
    return Problem(key, "nothing reads this key", ", ".join(KEYS), nearest(name, KEYS))
