"""The benchmark on words stays runnable: a tiny model, a few steps."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks import vader_words
from tests.tiny_models import tiny_bert


def test_all_ways_train_and_the_exported_model_predicts_the_same(tmp_path: Path, dataset_cache: Path) -> None:
    vader_words.prepare(tmp_path, count=200)
    model = tiny_bert(tmp_path / "bert")
    results = {name: run(tmp_path, model, 1, 2) for name, run in vader_words.CONTESTANTS.items()}
    assert results["config"]["share"] == results["trainer"]["share"] == 1
    assert 0 < results["lora"]["share"] < 1
    assert all(0 <= row["accuracy"] <= 1 and row["seconds"] > 0 for row in results.values())
    assert vader_words.same_elsewhere(tmp_path, "lora") == 0
    assert [line.split()[0] for line in vader_words.table(results).splitlines()[1:]] == ["config", "lora", "trainer"]


def test_the_split_has_each_word_once(tmp_path: Path) -> None:
    vader_words.prepare(tmp_path)
    words = [
        line.split(",")[0]
        for name in ("train", "val")
        for line in (tmp_path / f"{name}.csv").read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert len(words) == len(set(words)) > 5000
