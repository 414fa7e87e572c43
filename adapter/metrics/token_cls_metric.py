"""Precision, recall and F1 of the entities that a token classifier finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from seqeval.metrics.sequence_labeling import get_entities
from torch import Tensor

from adapter.metrics.metric import IGNORED, Metric, as_tensor, column
from adapter.registry import METRICS

FOLD_AFTER = 256  # batches
SOURCES = ("trainer", "trainer.eval_preprocessor", "trainer.model", "trainer.model.config")
Tags = NDArray[np.object_]


@METRICS.register_module(module_name="token-cls-metric")
class TokenClassificationMetric(Metric):
    """precision, recall and f1 over entities, as seqeval defines them, and accuracy over tokens.

    An entity is right when its type, beginning and end are. Tokens labeled -100 are left out, before entities
    are looked for. The state is three counts a type.

    Args:
        label_name: Input with the tokens' tags as numbers, (batch, tokens).
        logit_name: Output with the scores, (batch, tokens, tags).
        return_entity_level_metrics: Add <type>_precision, <type>_recall, <type>_f1 and <type>_number, which is how
            many entities there are of a type.
        label2id: Number of each tag (``B-PER``); that of the trainer, its preprocessor, its model or the model's
            config by default.
    """

    def __init__(
        self,
        label_name: str = "labels",
        logit_name: str = "logits",
        return_entity_level_metrics: bool = False,
        label2id: Mapping[str, int] | None = None,
    ) -> None:
        self.label_name = label_name
        self.logit_name = logit_name
        self.return_entity_level_metrics = return_entity_level_metrics
        self.label2id = label2id
        self._pending: list[tuple[Tensor, Tensor]] = []
        self._right: Counter[str] = Counter()
        self._predicted: Counter[str] = Counter()
        self._labeled: Counter[str] = Counter()
        self._tokens = np.zeros(2, dtype=np.int64)  # right ones, all

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Keep the batch's tags, on their device; they are counted many at a time.

        Raises:
            ValueError: The scores are not (batch, tokens, tags), or there is not one label a token.
        """
        logits = as_tensor(column(outputs, (self.logit_name,), "the model's output"))
        labels = as_tensor(column(inputs, (self.label_name,), "the batch"))
        if logits.ndim != 3 or logits.shape[:2] != labels.shape:
            raise ValueError(
                "token-cls-metric takes scores (batch, tokens, tags) and labels (batch, tokens); "
                f"got scores {tuple(logits.shape)} and labels {tuple(labels.shape)}"
            )
        self._pending.append((logits.argmax(-1), labels))
        if len(self._pending) >= FOLD_AFTER:
            self._fold()

    def evaluate(self) -> dict[str, Any]:
        """The values over everything added, each from 0 to 1; 0 where there is nothing to divide by.

        Raises:
            ValueError: No token was added, or a tag has a number that ``label2id`` lacks.
        """
        self._fold()
        right, total = self._tokens.tolist()
        if not total:
            raise ValueError("token-cls-metric has nothing to evaluate: no labeled token was added")
        values: dict[str, Any] = {}
        types = sorted(self._predicted | self._labeled) if self.return_entity_level_metrics else []
        for kind in types:
            scores = _scores(self._right[kind], self._predicted[kind], self._labeled[kind])
            values |= {f"{kind}_{name}": value for name, value in scores.items()}
            values[f"{kind}_number"] = self._labeled[kind]
        counts = (self._right, self._predicted, self._labeled)
        return {**values, **_scores(*(count.total() for count in counts)), "accuracy": right / total}

    def merge(self, other: TokenClassificationMetric) -> None:
        """Add the other's counts."""
        self._fold()
        other._fold()
        self._right += other._right
        self._predicted += other._predicted
        self._labeled += other._labeled
        self._tokens = self._tokens + other._tokens

    def __getstate__(self) -> dict[str, Any]:
        self._fold()
        return super().__getstate__()

    def _fold(self) -> None:
        """Turn what is pending into counts. The only place that waits for the device."""
        if not self._pending:
            return
        lengths = np.concatenate([np.full(len(labels), labels.shape[1]) for _, labels in self._pending])
        predicted, labels = (
            torch.cat([part.reshape(-1) for part in side]) for side in zip(*self._pending, strict=True)
        )
        predicted, labels = torch.stack([predicted, labels.to(predicted)]).cpu().numpy()
        self._pending.clear()
        kept = labels != IGNORED
        rows = np.repeat(np.arange(len(lengths)), lengths)[kept]
        predicted, labels = predicted[kept], labels[kept]
        self._tokens = self._tokens + np.array([(predicted == labels).sum(), len(labels)])
        names = self._tags(int(max(predicted.max(initial=0), labels.max(initial=0))), int(labels.min(initial=0)))
        starts = np.flatnonzero(np.diff(rows)) + 1
        for ours, true in zip(np.split(names[predicted], starts), np.split(names[labels], starts), strict=True):
            self._count(ours, true)

    def _count(self, predicted: Tags, labeled: Tags) -> None:
        """Count the entities of one row."""
        ours, true = (set(get_entities(tags.tolist())) for tags in (predicted, labeled))
        self._right.update(kind for kind, *_ in ours & true)
        self._predicted.update(kind for kind, *_ in ours)
        self._labeled.update(kind for kind, *_ in true)

    def _tags(self, highest: int, lowest: int) -> Tags:
        """Tags by number, for every number up to ``highest``."""
        label2id = self.label2id or self._label2id_of_trainer()
        tags = {int(number): tag for tag, number in label2id.items()}
        lacking = [number for number in (*range(highest + 1), lowest) if number not in tags]
        if lacking:
            raise ValueError(f"token-cls-metric knows no tag of number {lacking[0]}; label2id is {dict(label2id)}")
        return np.array([tags[number] for number in range(highest + 1)], dtype=object)

    def _label2id_of_trainer(self) -> Mapping[str, int]:
        for source in SOURCES:
            found: Any = self
            for name in (*source.split("."), "label2id"):
                found = getattr(found, name, None)
            if found:
                return found
        raise ValueError(
            "token-cls-metric needs the tags' numbers: give it label2id, or set it on the model or the preprocessor"
        )


def _scores(right: int, predicted: int, labeled: int) -> dict[str, float]:
    precision = right / predicted if predicted else 0.0
    recall = right / labeled if labeled else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}
