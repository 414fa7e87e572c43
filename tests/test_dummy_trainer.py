from __future__ import annotations

import logging

import pytest

from adapter import build_trainer
from adapter.dummy_trainer import DummyTrainer


def test_it_reads_its_config_and_logs(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"train": {"max_epochs": 2}, "evaluation": {"metrics": "accuracy"}}
    words: list[list[str]] = []
    trainer = build_trainer("dummy", {"cfg_file": config, "model": None, "arg_parse_fn": words.append})
    assert type(trainer) is DummyTrainer
    assert trainer.cfg == config
    assert words == [["--train.max-epochs", "2", "--evaluation.metrics", "accuracy"]]
    monkeypatch.setattr(trainer.logger, "handlers", [caplog.handler])
    monkeypatch.setattr(trainer.logger, "propagate", False)
    with caplog.at_level(logging.INFO):
        trainer.train()
        assert trainer.evaluate("path") == {}
    assert [record.getMessage() for record in caplog.records] == [
        "dummy trainer: train {'max_epochs': 2}",
        "dummy trainer: evaluate {'metrics': 'accuracy'}",
    ]
