"""ROUGE and BLEU of generated text, Chinese among it."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from nltk.translate import bleu_score
from rouge import Rouge

from adapter.metrics.metric import Metric, column
from adapter.registry import METRICS

WEIGHTS = {"bleu-1": (1.0,), "bleu-4": (0.25, 0.25, 0.25, 0.25)}
ROUGE = ("rouge-1", "rouge-l")
# Chinese characters and punctuation, each of which is a word
CHINESE = re.compile(
    "([\u00b7\u2013\u2014\u2018\u2019\u201b-\u201f\u2026\u2027\u3001-\u3003\u3008-\u3011\u3014-\u301f\u3030\u303e\u303f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe4f\ufe51\ufe54\uff01-\uff0d\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff64"
    "\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f])"
)


@METRICS.register_module(module_name="text-gen-metric")
class TextGenerationMetric(Metric):
    """rouge-1 and rouge-l, means over samples of F1, and bleu-1 and bleu-4, over all samples; each from 0 to 1.

    Words are what stands between spaces; a Chinese character is a word. rouge counts different words, sentence by
    sentence, as the package of that name does; bleu is NLTK's, with its smoothing method 3. The state is sums and
    counts, not the texts.

    Args:
        target_text: Input with the reference, a string a sample.
        pred_text: Output with the generated text, a string a sample.
    """

    def __init__(self, target_text: str = "tgts", pred_text: str = "preds") -> None:
        self.target_text = target_text
        self.pred_text = pred_text
        self._rouge = Rouge(metrics=list(ROUGE))
        self._rouge_sums = np.zeros(len(ROUGE))
        self._samples = 0
        self._counts = np.zeros((4, 2), dtype=np.int64)  # right and all n-grams of 1 to 4 words
        self._lengths = np.zeros(2, dtype=np.int64)  # of the references and of the texts, in words

    def add(self, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Score the batch's texts.

        Raises:
            ValueError: There are not as many texts as references.
        """
        texts = column(outputs, (self.pred_text,), "the model's output")
        references = column(inputs, (self.target_text,), "the batch")
        if isinstance(texts, str) or len(texts) != len(references):
            raise ValueError(
                f"text-gen-metric takes lists, one text a reference; got {len(texts)} for {len(references)}"
            )
        for text, reference in zip(texts, references, strict=True):
            self._add(*(CHINESE.sub(r" \1 ", each).split() or [""] for each in (text, reference)))
        self._samples += len(texts)

    def evaluate(self) -> dict[str, Any]:
        """The four values.

        Raises:
            ValueError: Nothing was added.
        """
        if not self._samples:
            raise ValueError("text-gen-metric has nothing to evaluate: no batch was added")
        rouge = dict(zip(ROUGE, (self._rouge_sums / self._samples).tolist(), strict=True))
        return {**rouge, **{name: self._bleu_value(weights) for name, weights in WEIGHTS.items()}}

    def merge(self, other: TextGenerationMetric) -> None:
        """Add the other's sums and counts."""
        self._rouge_sums = self._rouge_sums + other._rouge_sums
        self._samples += other._samples
        self._counts = self._counts + other._counts
        self._lengths = self._lengths + other._lengths

    def _add(self, text: list[str], reference: list[str]) -> None:
        sides = [" ".join(words) for words in (text, reference)]
        if all(side.replace(".", "").strip() for side in sides):  # rouge refuses a text without a word; it scores 0
            with _recursion(2 * (len(text) + len(reference))):  # rouge walks its table of words by recursion
                scores = self._rouge.get_scores(*sides)[0]
            self._rouge_sums += [scores[name]["f"] for name in ROUGE]
        for n in range(4):
            precision = bleu_score.modified_precision([reference], text, n + 1)
            self._counts[n] += (precision.numerator, precision.denominator)
        self._lengths += (len(reference), len(text))

    def _bleu_value(self, weights: tuple[float, ...]) -> float:
        if not self._counts[0, 0]:
            return 0.0
        precisions = [bleu_score.Fraction(*pair, _normalize=False) for pair in self._counts[: len(weights)].tolist()]
        smooth = bleu_score.SmoothingFunction().method3(precisions)
        logarithms = [weight * math.log(value) for weight, value in zip(weights, smooth, strict=True)]
        return bleu_score.brevity_penalty(*self._lengths.tolist()) * math.exp(math.fsum(logarithms))


@contextmanager
def _recursion(depth: int) -> Iterator[None]:
    """Let calls nest so much deeper than usual."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(usual + depth)
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)
