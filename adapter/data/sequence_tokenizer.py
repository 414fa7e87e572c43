"""Preprocessors of texts, or pairs of them, that have one label each."""

from __future__ import annotations

from adapter.data.text_tokenizer import FIRST, LABEL, SECOND, Columns, TextTokenizer
from adapter.registry import PREPROCESSORS


@PREPROCESSORS.register_module(module_name="sen-cls-tokenizer")
@PREPROCESSORS.register_module(module_name="sen-sim-tokenizer")
@PREPROCESSORS.register_module(module_name="nli-tokenizer")
@PREPROCESSORS.register_module(module_name="seq-cls-tokenizer")
@PREPROCESSORS.register_module(module_name="Tokenize")
class SequenceTokenizer(TextTokenizer):
    """``input_ids``, ``attention_mask``, ``token_type_ids`` where the tokenizer makes them, and ``labels``."""

    def encode(self, columns: Columns) -> Columns:
        """The tokens of texts, or of pairs, with their labels."""
        texts = [[str(text or "") for text in columns[part]] for part in (FIRST, SECOND) if part in columns]
        encoded = dict(self.tokenizer(*texts, truncation=True, max_length=self.max_length))
        if LABEL in columns:
            encoded["labels"] = [self.label_number(value) for value in columns[LABEL]]
        return encoded
