from __future__ import annotations

import pytest

from adapter.data.build import build_dataset
from adapter.data.sequence_tokenizer import SequenceTokenizer
from tests.tiny_models import tiny_bert


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tiny_bert(tmp_path_factory.mktemp("bert")))


@pytest.mark.parametrize(
    ("options", "sample", "pieces", "label"),
    [
        ({}, {"text": "a good film", "label": 1}, "[CLS] a good film [SEP]", 1),
        ({"max_length": 4}, {"text": "a good film", "label": 1}, "[CLS] a good [SEP]", 1),
        (
            {"first_sequence": "x", "second_sequence": "y", "label": "z", "label2id": {"no": 0, "yes": 1}},
            {"x": "good", "y": "bad plot", "z": "yes"},
            "[CLS] good [SEP] bad plot [SEP]",
            1,
        ),
    ],
)
def test_a_sample_becomes_tokens_and_a_number(folder, options, sample, pieces, label):
    tokenizer = SequenceTokenizer(folder, **options)
    made = tokenizer(sample)
    assert " ".join(tokenizer.tokenizer.convert_ids_to_tokens(made["input_ids"])) == pieces
    assert made["labels"] == label


def test_a_batch_is_filled_up_to_its_longest_sample(folder):
    tokenizer = SequenceTokenizer(folder)
    batch = tokenizer.collate([tokenizer({"text": text, "label": 0}) for text in ("good", "a very good film")])
    assert batch["input_ids"].shape == (2, 6)
    assert batch["attention_mask"].sum(1).tolist() == [3, 6]
    assert batch["labels"].tolist() == [0, 0]


def test_rows_of_files_are_tokenized_once_in_each_way(folder, tmp_path, dataset_cache, monkeypatch):
    (tmp_path / "rows.csv").write_text("x,y\ngood film,no\nbad plot,yes\n")
    section = {"train": {"file": "rows.csv", "first_sequence": "x", "label": "y"}}
    batches, encode = [], SequenceTokenizer.encode
    monkeypatch.setattr(SequenceTokenizer, "encode", lambda *given: batches.append(1) or encode(*given))

    def labels_of(names, **options):
        batches.clear()
        tokenizer = SequenceTokenizer(model_dir=folder, first_sequence="x", label="label", **options)
        data = build_dataset(section, "train", tokenizer, base_dir=tmp_path, labels=names)
        return [row["labels"] for row in data], len(batches)

    assert labels_of(["no", "yes"]) == ([0, 1], 1)
    assert labels_of(["no", "yes"]) == ([0, 1], 0)
    assert labels_of(["yes", "no"]) == ([1, 0], 1)
    assert labels_of(["no", "yes"], max_length=3) == ([0, 1], 1)
    (tmp_path / "rows.csv").write_text("x,y\ngood film,yes\nbad plot,yes\n")
    assert labels_of(["no", "yes"]) == ([1, 1], 1)
