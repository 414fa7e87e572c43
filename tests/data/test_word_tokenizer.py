from __future__ import annotations

import pytest

from adapter import ConfigError
from adapter.data.word_tokenizer import WordTokenizer
from tests.tiny_models import tiny_bert


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tiny_bert(tmp_path_factory.mktemp("bert")))


@pytest.mark.parametrize(
    ("words", "labels", "expected"),
    [
        (["the", "good", "film"], [0, 1, 2], [-100, 0, 1, 2, -100]),
        ("the good film", "0 1 2", [-100, 0, 1, 2, -100]),
        (["plots", "a"], [1, 2], [-100, 1, -100, 2, -100]),
    ],
    ids=["lists", "text", "a word of two tokens"],
)
def test_a_label_stands_on_the_first_token_of_its_word(folder, words, labels, expected):
    named = {"first_sequence": "words", "label": "tags"}
    assert WordTokenizer(folder, **named)({"words": words, "tags": labels})["labels"] == expected


def test_words_need_labels_to_learn_and_none_to_be_predicted(folder):
    words = {"words": ["the", "good", "film"]}
    with pytest.raises(ConfigError, match=r"dataset\.train\.label: not given.*nothing to learn"):
        WordTokenizer(folder, first_sequence="words")(words)
    assert WordTokenizer(folder, first_sequence="words", mode="val")(words)["labels"] == [-100, 0, 0, 0, -100]


def test_as_many_labels_as_words(folder):
    tokenizer = WordTokenizer(folder, first_sequence="words", label="tags")
    with pytest.raises(ConfigError, match="3 words and 2 labels"):
        tokenizer({"words": ["the", "good", "film"], "tags": [0, 1]})
