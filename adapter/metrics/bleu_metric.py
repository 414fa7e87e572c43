"""Corpus BLEU of generated text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sacrebleu.metrics import BLEU

from adapter.metrics.metric import Metric, column
from adapter.registry import METRICS


@METRICS.register_module(module_name="bleu")
class BleuMetric(Metric):
    """bleu-4: BLEU over all samples, from 0 to 100, with sacrebleu's tokenizer and exponential smoothing.

    Reads the output ``hyp``, a string a sample, and the input ``ref``, a string or a list of strings a sample.
    The state is the counts of n-grams, not the texts.

    Args:
        eval_tokenized_bleu: The texts are tokens with spaces between them; do not tokenize them again.
    """

    VALUES = ("bleu-4",)

    def __init__(self, eval_tokenized_bleu: bool = False) -> None:
        self._bleu = BLEU(tokenize="none" if eval_tokenized_bleu else "13a", effective_order=True)
        self._counts = np.zeros((4, 2), dtype=np.int64)  # right and all n-grams of 1 to 4 words
        self._lengths = np.zeros(2, dtype=np.int64)  # of the texts and of the closest references, in words

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Count the batch's n-grams.

        Raises:
            ValueError: There are not as many texts as references.
        """
        texts = column(outputs, ("hyp",), "the model's output")
        references = column(inputs, ("ref",), "the batch")
        if isinstance(texts, str) or len(texts) != len(references):
            raise ValueError(f"bleu takes lists, one text a reference; got {len(texts)} for {len(references)}")
        for text, reference in zip(texts, references, strict=True):
            score = self._bleu.sentence_score(text, [reference] if isinstance(reference, str) else [*reference])
            self._counts += np.stack([score.counts, score.totals], axis=1)
            self._lengths += (score.sys_len, score.ref_len)

    def evaluate(self) -> dict[str, Any]:
        """BLEU over everything added.

        Raises:
            ValueError: Nothing was added.
        """
        if not self._lengths[1]:
            raise ValueError("bleu has nothing to evaluate: no reference was added")
        right, total = self._counts.T.tolist()
        length, reference_length = self._lengths.tolist()
        return {"bleu-4": self._bleu.compute_bleu(right, total, length, reference_length, smooth_method="exp").score}

    def merge(self, other: BleuMetric) -> None:
        """Add the other's counts."""
        self._counts = self._counts + other._counts
        self._lengths = self._lengths + other._lengths
