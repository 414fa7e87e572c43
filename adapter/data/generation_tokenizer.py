"""Preprocessor of texts that a model is to go on from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from adapter.data.text_tokenizer import FIRST, SECOND, Columns, TextTokenizer
from adapter.errors import ConfigError, Problem
from adapter.metrics.metric import IGNORED
from adapter.registry import PREPROCESSORS


@PREPROCESSORS.register_module(module_name="text-gen-tokenizer")
class GenerationTokenizer(TextTokenizer):
    """``input_ids``, ``attention_mask`` and ``labels`` of a text and its completion, on which alone the loss is.

    ``first_sequence`` is the text, ``second_sequence`` its completion, which the end-of-text token follows; without a
    second one the whole text is learned. For evaluation batches also hold the texts alone, to go on from, and the
    completions as ``tgts``. The first token, which nothing foretells, is never learned.
    """

    TRUTH = SECOND

    def encode(self, columns: Columns) -> Columns:
        """The tokens of texts with their completions."""
        prompts = [str(text or "") for text in columns[FIRST]]
        prompt_ids = self.tokenizer(prompts, truncation=True, max_length=self.max_length)["input_ids"]
        if self.mode != "train":
            self._refuse_long_ones(prompt_ids)
        if SECOND not in columns:
            alone: Columns = {"input_ids": prompt_ids, "labels": [[IGNORED, *ids[1:]] for ids in prompt_ids]}
            return alone if self.mode == "train" else {**alone, "prompt_ids": prompt_ids}
        answers = [str(text or "") for text in columns[SECOND]]
        answer_ids = self.tokenizer(answers, add_special_tokens=False)["input_ids"]
        end = [self.tokenizer.eos_token_id] if self.tokenizer.eos_token_id is not None else []
        pairs = [(ids, [*more, *end]) for ids, more in zip(prompt_ids, answer_ids, strict=True)]
        whole: Columns = {
            "input_ids": [[*ids, *more][: self.max_length] for ids, more in pairs],
            "labels": [[*([IGNORED] * max(len(ids), 1)), *more[not ids :]][: self.max_length] for ids, more in pairs],
        }
        return whole if self.mode == "train" else {**whole, "prompt_ids": prompt_ids, "tgts": answers}

    def _refuse_long_ones(self, prompt_ids: Sequence[Sequence[int]]) -> None:
        """Refuse texts after which the model has no room to write."""
        longest, room = max(map(len, prompt_ids), default=0), self.room
        if longest >= room:
            found = f"a text of {longest} tokens fills the {room} that the model holds: it can write nothing after it"
            raise ConfigError(Problem("preprocessor.max_length", found, fix=f"set it below {room}"))

    def collate(self, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """A batch of samples, filled up on the right; the texts alone on the left, where a model goes on from."""
        pad = self.tokenizer.pad_token_id or 0
        batch: dict[str, Any] = {
            "input_ids": filled_up([sample["input_ids"] for sample in samples], pad),
            "attention_mask": filled_up([[1] * len(sample["input_ids"]) for sample in samples], 0),
            "labels": filled_up([sample["labels"] for sample in samples], IGNORED),
        }
        if "prompt_ids" in samples[0]:
            prompts = [sample["prompt_ids"] for sample in samples]
            batch["prompt_ids"] = filled_up(prompts, pad, left=True)
            batch["prompt_mask"] = filled_up([[1] * len(ids) for ids in prompts], 0, left=True)
            if "tgts" in samples[0]:
                batch["tgts"] = [sample["tgts"] for sample in samples]
            room = self.room - batch["prompt_ids"].shape[1]
            batch["max_new_tokens"] = min(self.max_new_tokens, room)
        return batch


def filled_up(rows: Sequence[Sequence[int]], value: int, left: bool = False) -> Tensor:
    """Rows of one length, (rows, longest) int64."""
    longest = max(map(len, rows))
    padded = [
        [value] * (longest - len(row)) * left + list(row) + [value] * (longest - len(row)) * (not left) for row in rows
    ]
    return torch.tensor(padded)
