"""Preprocessor of texts that have a label for each word."""

from __future__ import annotations

from typing import Any

from adapter.data.labels import Labels, nothing_to_learn, split_words
from adapter.data.text_tokenizer import FIRST, LABEL, Columns, TextTokenizer
from adapter.errors import ConfigError, Problem
from adapter.metrics.metric import IGNORED
from adapter.registry import PREPROCESSORS


@PREPROCESSORS.register_module(module_name="ner-tokenizer")
@PREPROCESSORS.register_module(module_name="token-cls-tokenizer")
class WordTokenizer(TextTokenizer):
    """``input_ids``, ``attention_mask`` and ``labels``, (tokens,), -100 but for the first token of each word.

    Words and labels are lists, or text with spaces between them. Outside of training every word has number 0 without
    labels, so that ``adapter predict`` still knows where words begin.
    """

    def encode(self, columns: Columns) -> Columns:
        """The tokens of words, with the words' labels on their first ones.

        Raises:
            ConfigError: A sample has not as many labels as words, or a label that is not in the list; or there are none
                to learn.
        """
        if LABEL not in columns and self.mode == "train":
            raise nothing_to_learn()
        words = [split_words(value) for value in columns[FIRST]]
        labels = (
            [split_words(value) for value in columns[LABEL]] if LABEL in columns else [[0] * len(row) for row in words]
        )
        encoded = self.tokenizer(words, is_split_into_words=True, truncation=True, max_length=self.max_length)
        columns = dict(encoded)
        columns["labels"] = [
            self._on_first_tokens(encoded.word_ids(row), self._numbers(words[row], labels[row]))
            for row in range(len(words))
        ]
        return columns

    def _numbers(self, words: list[Any], labels: list[Any]) -> list[int]:
        if len(words) != len(labels):
            found = f"a sample has {len(words)} words and {len(labels)} labels: {' '.join(map(str, words))[:80]}"
            raise ConfigError(Problem(f"dataset.{self.mode}.label", found, fix="give each word one label"))
        key = f"dataset.{self.mode}.label"
        if self.label2id is None or not any(isinstance(label, str) for label in labels):
            return [int(label) for label in labels]
        return Labels(tuple(self.label2id)).encode(labels, f"the words '{' '.join(map(str, words))[:80]}'", key)

    @staticmethod
    def _on_first_tokens(word_ids: list[int | None], numbers: list[int]) -> list[int]:
        before = [None, *word_ids[:-1]]
        return [
            IGNORED if word is None or word == last else numbers[word]
            for word, last in zip(word_ids, before, strict=True)
        ]

    def _collator(self, **longest: Any) -> Any:
        from transformers import DataCollatorForTokenClassification

        return DataCollatorForTokenClassification(self.tokenizer, label_pad_token_id=IGNORED, **longest)
