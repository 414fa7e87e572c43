from __future__ import annotations

import pytest

from adapter.hooks.evaluation import EvaluationHook
from tests.runs import Recorder, json_lines, run, weights_of


@pytest.mark.parametrize(
    ("settings", "due"),
    [
        ({}, [0, 1, 2, 3, 4, 5, 6, 7]),
        ({"interval": 3}, [2, 5]),
        ({"interval": 0}, []),
        ({"interval": 9}, []),
        ({"start_idx": 0}, [0, 1, 2, 3, 4, 5, 6, 7]),
        ({"start_idx": 3}, [2, 3, 4, 5, 6, 7]),
        ({"start_idx": 2, "interval": 2}, [1, 3, 5, 7]),
        ({"start_idx": 5, "interval": 3}, [4, 7]),
    ],
)
def test_due(settings, due):
    assert [current for current in range(8) if EvaluationHook(**settings).due(current)] == due


# 2 epochs of 3 iterations: (epoch, iter) at which an evaluation happens
@pytest.mark.parametrize(
    ("settings", "evaluations"),
    [
        ({}, [(0, 3), (1, 6)]),
        ({"interval": 2}, [(1, 6)]),
        ({"by_epoch": False, "interval": 2}, [(0, 1), (1, 3), (1, 5)]),
        ({"eval_strategy": "by_step", "interval": 4}, [(1, 3)]),
        ({"eval_strategy": "by_epoch", "by_epoch": False}, [(0, 3), (1, 6)]),
        ({"eval_strategy": "no"}, []),
        ({"by_epoch": False, "start_idx": 5}, [(1, 4), (1, 5)]),
    ],
)
def test_when(tmp_path, settings, evaluations):
    recorder = Recorder("before_val", lambda trainer: (trainer.epoch, trainer.iter))
    run(tmp_path, [{"type": "EvaluationHook", **settings}], callbacks=[recorder])
    assert recorder.seen == evaluations


def test_values_go_into_the_log(tmp_path):
    trainer = run(tmp_path, [{"type": "EvaluationHook"}, {"type": "TextLoggerHook"}])
    assert trainer.metric_values is not None
    assert json_lines(tmp_path)[-1]["evaluation/accuracy"] == round(trainer.metric_values["accuracy"], 5)


def test_runs_before_the_scheduler_and_after_the_update(tmp_path):
    rates = Recorder("before_val", lambda trainer: trainer.optimizer.param_groups[0]["lr"])
    weights = Recorder("before_val", weights_of)
    updated = Recorder("after_train_epoch", weights_of, "HIGHEST")
    run(tmp_path, [{"type": "EvaluationHook"}], callbacks=[rates, weights, updated])
    assert rates.seen == [0.1, 0.05]
    assert weights.seen == updated.seen


def test_training_is_the_same_with_evaluations_in_the_middle_of_an_accumulation(tmp_path):
    train = {"optimizer": {"type": "SGD", "lr": 0.1, "options": {"cumulative_iters": 3}}}
    plain = run(tmp_path / "plain", train=train)
    evaluated = run(tmp_path / "evaluated", [{"type": "EvaluationHook", "by_epoch": False}], train=train)
    assert weights_of(evaluated) == weights_of(plain)


def test_mode_around_an_evaluation(tmp_path):
    modes = {
        stage: Recorder(stage, lambda trainer: (trainer.mode, trainer.model.training))
        for stage in ("before_val", "after_val", "after_train_epoch", "before_train_epoch", "after_train_iter")
    }
    run(tmp_path, [{"type": "EvaluationHook"}], callbacks=list(modes.values()))
    assert set(modes["before_val"].seen + modes["after_val"].seen) == {("eval", False)}
    assert set(modes["after_train_iter"].seen) == {("train", True)}
    assert [mode for mode, _ in modes["after_train_epoch"].seen] == ["eval", "eval"]
    assert [mode for mode, _ in modes["before_train_epoch"].seen] == ["train", "train"]
