"""Tiny models with random weights, for the configs beside this file: no network, and seconds of training.

    python configs/text/make_models.py work_dir/text_models

writes ``bert`` and ``gpt2`` below that folder, as ``save_pretrained`` does, with tokenizers that know the words of
``data/``. A pretrained model takes their place by its own folder, or its name on the hub, in ``model.path``.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

DATA = Path(__file__).parent / "data"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
MAX_LENGTH = 32


def words() -> list[str]:
    """Every word of the data, sorted."""
    found: set[str] = set()
    for path in DATA.iterdir():
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file) if path.suffix == ".csv" else map(json.loads, file)
            for row in rows:
                for value in row.values():
                    found.update(value if isinstance(value, list) else str(value).split())
    return sorted(found)


def make_tokenizer(classifies: bool) -> Any:
    """A tokenizer of whole words; a classifier's puts [CLS] and [SEP] around texts."""
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *words()))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = ["input_ids", "attention_mask"]
    ends = {"eos_token": "[SEP]"}
    if classifies:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
        )
        names = ["input_ids", "token_type_ids", "attention_mask"]
        ends = {"cls_token": "[CLS]", "sep_token": "[SEP]"}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_input_names=names,
        model_max_length=MAX_LENGTH,
        unk_token="[UNK]",
        pad_token="[PAD]",
        **ends,
    )


def make_bert(folder: Path) -> None:
    """A BERT of two layers without a head."""
    torch.manual_seed(0)
    tokenizer = make_tokenizer(classifies=True)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=MAX_LENGTH,
        initializer_range=0.2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def make_gpt2(folder: Path) -> None:
    """A GPT-2 of two layers."""
    torch.manual_seed(0)
    tokenizer = make_tokenizer(classifies=False)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=MAX_LENGTH,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    make_bert(Path(sys.argv[1], "bert"))
    make_gpt2(Path(sys.argv[1], "gpt2"))
