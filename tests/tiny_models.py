"""Models of transformers with few, random weights, and tokenizers of a few words, in folders of their own."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
PRAISE, BLAME = ("good", "great", "fine"), ("bad", "awful", "poor")
WORDS = (*PRAISE, *BLAME, "a", "the", "film", "plot", "was", "not", "very", "and", "why", "##s")


def tiny_bert(folder: Path, **settings: object) -> Path:
    """A BERT without a head, 16 wide, without dropout; saved as safetensors."""
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(SPECIAL) + len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        initializer_range=0.2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        **settings,
    )
    transformers.BertModel(config).save_pretrained(folder)
    save_tokenizer(folder, classifies=True)
    return folder


def small_transformer(num_labels: int) -> transformers.BertForSequenceClassification:
    """A BERT of two layers that tells classes apart, in memory; the same weights each time."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=30, num_labels=num_labels, **sizes)
    return transformers.BertForSequenceClassification(config)


def tiny_gpt(folder: Path) -> Path:
    """A GPT-2 of one layer, 16 wide, without dropout."""
    torch.manual_seed(0)
    end = len(SPECIAL) - 1
    config = transformers.GPT2Config(
        vocab_size=len(SPECIAL) + len(WORDS),
        n_embd=16,
        n_layer=1,
        n_head=2,
        n_positions=32,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=end,
        eos_token_id=end,
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    save_tokenizer(folder, classifies=False)
    return folder


def save_tokenizer(folder: Path, classifies: bool) -> None:
    """A tokenizer of whole words and one ending; a classifier's puts [CLS] and [SEP] around texts."""
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if classifies:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
        )
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]"}
    special |= {"cls_token": "[CLS]", "sep_token": "[SEP]"} if classifies else {"eos_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"]
        if classifies
        else ["input_ids", "attention_mask"],
        model_max_length=32,
        **special,
    ).save_pretrained(folder)
