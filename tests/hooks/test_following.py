from __future__ import annotations

import pytest

from adapter import ConfigError
from adapter.hooks.following import check_rule, newest_value
from tests.runs import make

FOLLOWERS = [
    {"type": "BestCkptSaverHook", "metric_key": "acuracy"},
    {"type": "EarlyStopHook", "metric_key": "acuracy"},
]


@pytest.mark.parametrize("hook", FOLLOWERS, ids=lambda hook: hook["type"])
@pytest.mark.parametrize(
    ("values", "expected"), [(None, None), ({"acuracy": 0.5, "loss": 2.0}, 0.5), ({"acuracy": None}, None)]
)
def test_the_newest_value(hook, values, expected, tmp_path):
    trainer = make(tmp_path, [])
    (follower,) = trainer.register_hook_from_cfg(hook)
    trainer.metric_values = values
    assert newest_value(follower, follower.metric_key, trainer) == expected


@pytest.mark.parametrize("hook", FOLLOWERS, ids=lambda hook: hook["type"])
def test_a_value_that_the_evaluation_does_not_have(hook, tmp_path):
    trainer = make(tmp_path, [])
    (follower,) = trainer.register_hook_from_cfg(hook)
    trainer.metric_values = {"accuracy": 0.5, "loss": 2.0}
    said = rf"{hook['type']}\.metric_key: .*'acuracy' is not among the evaluation's values: accuracy, loss"
    with pytest.raises(ConfigError, match=said):
        newest_value(follower, follower.metric_key, trainer)


@pytest.mark.parametrize("rule", ["max", "min"])
def test_rules(rule):
    assert check_rule(rule) == rule


def test_another_rule():
    with pytest.raises(ConfigError, match=r"rule: found 'mni'.*max or min.*Did you mean 'min'"):
        check_rule("mni")
