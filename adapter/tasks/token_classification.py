"""One label for each word of a text, such as the entities it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from adapter.data.labels import Labels
from adapter.metrics.metric import IGNORED
from adapter.tasks.task import Rows, Task


def word_rows(outputs: Mapping[str, Any], inputs: Any, labels: Labels | None) -> Rows:
    """``{labels, scores}`` of each sample: of each word the likeliest label and its probability.

    ``outputs`` has ``logits`` (samples, tokens, classes); tokens whose ``labels`` in the batch are -100 are no word.
    """
    logits, truth = outputs.get("logits"), inputs.get("labels") if isinstance(inputs, Mapping) else None
    if labels is None or not isinstance(logits, Tensor) or not isinstance(truth, Tensor) or logits.ndim != 3:
        return []
    scores, best = torch.softmax(logits.float(), dim=-1).max(-1)
    names, words = labels.id2label, truth != IGNORED
    return [
        {"labels": [names[number] for number in best[row][kept].tolist()], "scores": scores[row][kept].tolist()}
        for row, kept in enumerate(words)
    ]


TASK = Task(
    names=("token-classification", "named-entity-recognition", "part-of-speech", "word-segmentation"),
    head="AutoModelForTokenClassification",
    classes=True,
    parts=True,
    rows=word_rows,
)
