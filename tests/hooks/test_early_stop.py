from __future__ import annotations

import math

import pytest

from adapter import ConfigError
from adapter.hooks.early_stop import EarlyStopHook
from tests.runs import make, messages, run, scripted

EVALUATION = {"type": "EvaluationHook"}
NAN = float("nan")


def epochs_run(folder, values, settings, evaluation=EVALUATION, by="epoch", samples=4):
    hook = EarlyStopHook(**{"metric_key": "score", **settings})
    return run(folder, [evaluation], 6, samples=samples, metrics=scripted(*values, by=by), callbacks=[hook]).epoch


@pytest.mark.parametrize(
    ("values", "settings", "epochs"),
    [
        ([1, 2, 3, 4, 5, 6], {}, 6),
        ([5, 4, 3, 2, 1, 0], {}, 4),
        ([5, 4, 3, 2, 1, 0], {"patience": 2}, 3),
        ([5, 4, 3, 2, 1, 0], {"patience": 0}, 2),
        ([5, 4, 6, 5, 6, 7], {"patience": 2}, 5),  # equal is no improvement
        ([5, 4, 3, 3, 3, 3], {"rule": "min", "patience": 2}, 5),
        ([1, 2, 3, 4, 5, 6], {"rule": "min", "patience": 2}, 3),
        ([1.0, 1.2, 1.4, 1.6, 1.8, 2.0], {"min_delta": 0.5, "patience": 3}, 6),
        ([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], {"min_delta": 0.5, "patience": 2}, 3),
        ([1.0, 0.9, 0.8, 0.7, 0.6, 0.5], {"rule": "min", "min_delta": -0.5, "patience": 2}, 3),
        ([5, 4, 3, 2, 1, 0], {"interval": 2, "patience": 1}, 4),
        ([5, 4, 3, 2, 1, 0], {"early_stop_strategy": "no"}, 6),
        ([5, 4, 3, 2, 1, 0], {"interval": 0}, 6),
        ([1, NAN, 3, 4, 5, 6], {}, 2),
        ([1, math.inf, 3, 4, 5, 6], {}, 2),
        ([1, NAN, 3, 4, 5, 6], {"check_finite": False}, 6),
    ],
)
def test_epochs(tmp_path, values, settings, epochs):
    assert epochs_run(tmp_path, values, settings) == epochs


def test_an_older_value_counts_in_every_epoch(tmp_path):
    evaluation = {**EVALUATION, "interval": 2}
    assert epochs_run(tmp_path, [0, 1, 0, 2, 0, 3], {"patience": 1}, evaluation) == 3


@pytest.mark.parametrize(("settings", "epochs"), [({"patience": 2}, 2), ({"patience": 2, "interval": 2}, 4)])
def test_by_iteration_the_epoch_is_finished(tmp_path, settings, epochs):
    values = [9, 8, 9, 7, 6, 9, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0]
    settings = {"by_epoch": False, **settings}
    evaluation = {**EVALUATION, "by_epoch": False, "interval": 2}
    assert epochs_run(tmp_path, values, settings, evaluation, by="iter", samples=12) == epochs


def test_no_evaluation_never_stops(tmp_path):
    assert epochs_run(tmp_path, [0], {"patience": 0}, {**EVALUATION, "interval": 9}) == 6


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([5, 4, 3, 2], "Early stop: score has not improved on 5.0 in 3 checks"),
        ([5, NAN], "Early stop: score is nan"),
    ],
)
def test_says_why(tmp_path, values, reason):
    epochs_run(tmp_path, values, {})
    assert reason in messages(tmp_path)


@pytest.mark.parametrize(("rule", "delta", "warned"), [("min", 0.5, 1), ("min", -0.5, 0), ("max", 0.5, 0)])
def test_warns_of_a_delta_that_works_the_other_way(tmp_path, rule, delta, warned):
    trainer = make(tmp_path, epochs=1, samples=4, callbacks=[EarlyStopHook("score", rule=rule, min_delta=delta)])
    trainer.train()
    assert len([line for line in messages(tmp_path) if "a positive min_delta" in line]) == warned


def test_goes_on_counting_where_the_run_before_stopped(tmp_path):
    before = EarlyStopHook("score")
    before.best_score, before.wait_count = 7, 2
    hook = EarlyStopHook("score")
    hook.load_state_dict(before.state_dict())
    assert run(tmp_path, [EVALUATION], 3, metrics=scripted(6, 8, 9), callbacks=[hook]).epoch == 1


def test_refuses_a_metric_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="metric_key 'f1' is not among the evaluation's values: score"):
        epochs_run(tmp_path, [1], {"metric_key": "f1"})


def test_refuses_a_rule():
    with pytest.raises(ConfigError, match="rule: found 'biggest'; allowed: max or min"):
        EarlyStopHook("score", rule="biggest")


def test_a_metric_that_is_not_there_is_told_where_the_config_asks_for_it(tmp_path):
    hooks = [{"type": "EvaluationHook"}, {"type": "EarlyStopHook", "metric_key": "f1"}]
    metrics = {"type": "tests.runs.Scripted", "values": [1]}
    with pytest.raises(ValueError, match=r"train\.hooks\[\d\]\.metric_key: .*'f1' is not among"):
        make(tmp_path, hooks, epochs=1, metrics=metrics).train()
