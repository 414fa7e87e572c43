from __future__ import annotations

import pytest

from adapter.data.generation_tokenizer import GenerationTokenizer
from tests.tiny_models import tiny_gpt

SAMPLE = {"x": "a good film", "y": "not bad"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tiny_gpt(tmp_path_factory.mktemp("gpt")))


def test_the_loss_is_on_the_completion_and_its_end_alone(folder):
    tokenizer = GenerationTokenizer(folder, first_sequence="x", second_sequence="y")
    made = tokenizer(SAMPLE)
    pieces = tokenizer.tokenizer.convert_ids_to_tokens(made["input_ids"])
    assert pieces == ["a", "good", "film", "not", "bad", "[SEP]"]
    assert made["labels"] == [-100, -100, -100, *made["input_ids"][3:]]


def test_without_a_completion_the_whole_text_is_learned(folder):
    made = GenerationTokenizer(folder, first_sequence="x")(SAMPLE)
    assert made["labels"] == [-100, *made["input_ids"][1:]]  # nothing foretells the first token


def test_for_evaluation_a_batch_has_the_texts_alone_filled_up_on_the_left(folder):
    tokenizer = GenerationTokenizer(folder, first_sequence="x", second_sequence="y", mode="val")
    batch = tokenizer.collate([tokenizer(SAMPLE), tokenizer({"x": "why", "y": "a very good plot"})])
    assert batch["prompt_mask"].tolist() == [[1, 1, 1], [0, 0, 1]]
    assert batch["tgts"] == ["not bad", "a very good plot"]
    assert batch["labels"].shape == batch["input_ids"].shape == (2, 6)
