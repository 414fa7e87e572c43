"""Any torchmetrics class as a metric of ours."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torchmetrics
from torch import Tensor

from adapter.errors import ConfigError, Problem
from adapter.metrics.metric import LABELS, Metric, as_tensor, column, holds_text
from adapter.registry import check_arguments

PREDICTIONS = ("logits", "preds", "predictions", "scores", "probs", "labels")
BUFFER = 1 << 18  # numbers kept before torchmetrics sees them


class TorchmetricsMetric(Metric):
    """Feeds a torchmetrics metric from the model's output and the batch.

    Small batches are put together before the metric's update, which costs more than the arithmetic in it.

    Args:
        metric: The metric; its state moves to where the predictions are.
        name: Name of its value; a metric with several values gives ``name_<theirs>``.
        logit_name: Output with the predictions; by default the first of logits, preds, predictions, scores,
            probs and labels.
        label_name: Input with the targets; ``labels``, else ``label``, by default.
    """

    def __init__(
        self,
        metric: torchmetrics.Metric,
        name: str,
        logit_name: str | None = None,
        label_name: str | None = None,
    ) -> None:
        self.metric = metric
        self.name = name
        self.prediction_names = (logit_name,) if logit_name else PREDICTIONS
        self.label_names = (label_name,) if label_name else LABELS
        self._pending: list[tuple[Any, Any]] = []
        self._size = 0

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Keep the batch, or update the metric with those kept so far; text goes to the metric as it is."""
        predicted = column(outputs, self.prediction_names, "the model's output")
        truth = column(inputs, self.label_names, "the batch")
        if not holds_text(predicted):
            predicted, truth = as_tensor(predicted), as_tensor(truth)
            if predicted.ndim == truth.ndim + 1 and predicted.shape[-1] == 1:  # one number a sample
                predicted = predicted.squeeze(-1)
            self._size += predicted.numel()
        if self._pending and not _same_kind(self._pending[-1], (predicted, truth)):
            self._flush()
        self._pending.append((predicted, truth))
        if self._size >= BUFFER:
            self._flush()

    def evaluate(self) -> dict[str, Any]:
        """The metric's value, or values, as numbers (lists for one with a value a class)."""
        self._flush()
        value = self.metric.compute()
        if isinstance(value, Mapping):
            return {f"{self.name}_{key}": _plain(part) for key, part in value.items()}
        return {self.name: _plain(value)}

    def merge(self, other: TorchmetricsMetric) -> None:
        """Add the other's state."""
        self._flush()
        other._flush()
        self.metric.merge_state(other.metric.to(self.metric.device))

    def __getstate__(self) -> dict[str, Any]:
        self._flush()
        self.metric.cpu()
        return super().__getstate__()

    def _flush(self) -> None:
        batches, self._pending, self._size = self._pending, [], 0
        if not batches:
            return
        predicted, truth = (_join(side) for side in zip(*batches, strict=True))
        if isinstance(predicted, Tensor):
            self.metric.to(predicted.device)
            truth = truth.to(predicted.device)
        self.metric.update(predicted, truth)


def build_torchmetrics(cls: Any, type_name: str, args: Mapping[str, Any], key: str) -> TorchmetricsMetric:
    """A torchmetrics class with its arguments, and ours: name (the type by default), logit_name, label_name.

    Raises:
        ConfigError: Arguments the class does not take or refuses.
    """
    ours = {name: args[name] for name in ("name", "logit_name", "label_name") if name in args}
    theirs = {name: value for name, value in args.items() if name not in ours}
    check_arguments(cls, theirs, key)
    if "validate_args" in inspect.signature(cls).parameters:  # its checks wait for the device
        theirs.setdefault("validate_args", False)
    try:
        metric = cls(**theirs)
    except (TypeError, ValueError, AssertionError, ImportError) as error:
        raise ConfigError(Problem(key, f"{type_name} refuses its arguments: {error}")) from error
    return TorchmetricsMetric(metric, **{"name": type_name, **ours})


def _same_kind(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two batches can be put together: text with text, tensors alike but for their length."""
    return all(_alike(x, y) for x, y in zip(a, b, strict=True))


def _alike(x: Any, y: Any) -> bool:
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return x.ndim > 0 and x.shape[1:] == y.shape[1:] and x.dtype == y.dtype
    return type(x) is type(y)


def _join(side: Sequence[Any]) -> Any:
    if isinstance(side[0], Tensor):
        return torch.cat(list(side)) if len(side) > 1 else side[0]
    return [item for part in side for item in part]


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, Tensor) else value
