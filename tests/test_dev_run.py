from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from lightning.pytorch.callbacks import BatchSizeFinder, LearningRateFinder

from adapter import ConfigError
from tests.small_runs import Stages, build, settings


def earnest() -> dict[str, Any]:
    """A config of a long run with everything that writes."""
    config = settings(train__max_epochs=50, train__loggers="csv", train__optimizer__options={"cumulative_iters": 2})
    config["train"]["checkpoint"] = {"best": {"metric_key": "accuracy"}, "period": {"interval": 10}}
    config["train"]["hooks"] = [{"type": "TensorboardHook"}, {"type": "EarlyStopHook", "metric_key": "accuracy"}]
    config["evaluation"]["period"] = {"interval": 20, "start_idx": 3}
    return config


@pytest.mark.parametrize(
    ("in_config", "keywords", "iterations"),
    [
        ({"fast_dev_run": True}, {}, 2),
        ({"fast_dev_run": 3}, {"max_epochs": 7, "train_iters_per_epoch": 2}, 3),
        ({}, {"fast_dev_run": 2}, 2),
        ({}, {"trainer_args": {"fast_dev_run": True, "max_epochs": 9}}, 2),
    ],
)
def test_it_goes_through_every_stage_once_and_keeps_nothing(
    in_config: dict[str, Any], keywords: dict[str, Any], iterations: int, tmp_path: Path
) -> None:
    config = earnest()
    config["train"] |= in_config
    stages = Stages()
    trainer = build(tmp_path, config, callbacks=[stages], **keywords)
    trainer.train()
    assert (trainer.epoch, trainer.iter, trainer.max_iters) == (1, iterations, iterations)
    assert stages.seen.count("after_train_iter") == iterations
    assert stages.seen.count("after_val_iter") == min(iterations, 2)
    assert set(trainer.metric_values or {}) >= {"accuracy"}
    assert {path.suffix for path in (tmp_path / "work").iterdir()} == {".log", ".json"}
    lines = next((tmp_path / "work").glob("*.json")).read_text().splitlines()
    assert len(lines) == iterations + 1


def test_a_run_in_earnest_is_not_shortened(tmp_path: Path) -> None:
    config = settings(train__fast_dev_run=False)
    trainer = build(tmp_path, config)
    trainer.train()
    assert trainer.iter == 3
    assert torch.load(tmp_path / "work" / "epoch_1.pth", weights_only=True)


@pytest.mark.parametrize(
    ("changes", "keywords", "text"),
    [
        (
            {},
            {"callbacks": [LearningRateFinder()]},
            r"callbacks: LearningRateFinder .*\s+fix: use train\.lr_find",
        ),
        ({}, {"trainer_args": {"callbacks": BatchSizeFinder()}}, r"callbacks: BatchSizeFinder needs Lightning to make"),
        ({"train__fast_dev_run": -1}, {}, r"train\.fast_dev_run: found -1"),
        ({}, {"fast_dev_run": "yes"}, r"fast_dev_run: found \"yes\".*\s+fix: write true"),
    ],
)
def test_what_cannot_be_is_refused(changes: Any, keywords: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        build(tmp_path, settings(**changes), **keywords)
    assert not (tmp_path / "work").exists()
