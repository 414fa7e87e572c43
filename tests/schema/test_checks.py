from __future__ import annotations

import copy
import math

import pytest

from adapter.config.config import Config
from adapter.schema import check
from adapter.schema.checks import RULES

GOOD = {
    "task": "image-classification",
    "model": {"type": "mlp-classifier"},
    "train": {
        "max_epochs": 3,
        "optimizer": {"type": "SGD", "lr": 0.1},
        "lr_scheduler": {"type": "StepLR", "step_size": 1},
    },
    "evaluation": {"metrics": ["seq-cls-metric"], "period": {"interval": 1}},
}
PLATEAU = {"type": "ReduceLROnPlateau"}
PLATEAU_HOOK = {"type": "PlateauLrSchedulerHook", "metric_key": "accuracy"}


def refusals(options, keywords=None):
    config = Config(copy.deepcopy(GOOD))
    config.merge_from_dict(options)
    return {problem.key: problem for problem in check(config, keywords)}


def test_a_good_config_has_no_problem():
    assert refusals({}) == {}


@pytest.mark.parametrize(
    ("options", "key", "kind", "said"),
    [
        ({"train.max_epochs": None}, "train.max_epochs", "missing", "add max_epochs"),
        ({"train.optimizer.options": {"loss_keys": []}}, "train.optimizer.options.loss_keys", "value", "one or more"),
        (
            {"train.optimizer_hook": {"type": "OptimizerHook", "loss_keys": ["a", "a"]}},
            "train.optimizer_hook.loss_keys",
            "value",
            "each once",
        ),
        ({"train.optimizer.lr": math.inf}, "train.optimizer.lr", "value", "found inf; allowed: a finite number"),
        ({"train.optimizer.momentum": -math.inf}, "train.optimizer.momentum", "value", "found -inf"),
        (
            {"train.optimizer.param_groups": [{"regex": "a", "lr": math.inf}]},
            "train.optimizer.param_groups[0].lr",
            "value",
            "a finite number",
        ),
        ({"train.lr_scheduler.eta_min": math.inf}, "train.lr_scheduler.eta_min", "value", "a finite number"),
        (
            {"train.lr_scheduler.num_warmup_steps": -1},
            "train.lr_scheduler.num_warmup_steps",
            "value",
            "found -1; allowed: an integer of 0 or more",
        ),
        ({"train.optimizer": {"_delete_": True}}, "train.optimizer", "missing", "AdamW"),
        ({"train.optimizer.type": "SDG"}, "train.optimizer.type", "name", "Did you mean 'SGD'?"),
        ({"train.lr_scheduler.type": "StepLr"}, "train.lr_scheduler.type", "name", "Did you mean 'StepLR'?"),
        ({"model.type": "mlp_classifier"}, "model.type", "name", "Did you mean 'mlp-classifier'?"),
        (
            {"evaluation.metrics": ["seq-cls-metrics"]},
            "evaluation.metrics[0]",
            "name",
            "Did you mean 'seq-cls-metric'?",
        ),
        (
            {"evaluation.metrics": [{"type": "seq-cls-metrics"}]},
            "evaluation.metrics[0].type",
            "name",
            "unknown metric 'seq-cls-metrics'",
        ),
        (
            {"evaluation.metrics": [], "task": "my-task"},
            "evaluation.metrics",
            "missing",
            "'my-task' has no default metric",
        ),
        (
            {"evaluation.metrics": [], "task": "video-stabilization"},
            "task",
            "name",
            "'video-stabilization', video-stabilization-metric, is not available",
        ),
        (
            {"train.hooks": [{"type": "TensorBoardHook"}]},
            "train.hooks[0].type",
            "name",
            "Did you mean 'TensorboardHook'?",
        ),
        (
            {"train.hooks": [{"type": "collections.OrderedDict"}]},
            "train.hooks[0].type",
            "name",
            "is no hook",
        ),
        ({"train.hooks": [{"type": "no.such.Hook"}]}, "train.hooks[0].type", "name", "cannot import"),
        (
            {"train.hooks": [{"type": "OptimizerHook"}]},
            "train.hooks[0].type",
            "value",
            "move it to train.optimizer_hook",
        ),
        (
            {"train.lr_scheduler": PLATEAU},
            "train.lr_scheduler",
            "missing",
            '"lr_scheduler_hook": {"type": "PlateauLrSchedulerHook", "metric_key": "accuracy"}',
        ),
        (
            {"train.lr_scheduler_hook": PLATEAU_HOOK},
            "train.lr_scheduler.type",
            "value",
            "StepLR watches no metric",
        ),
        (
            {
                "train.lr_scheduler": {
                    **PLATEAU,
                    "options": {"warmup": {"type": "LinearWarmup", "warmup_iters": 1}},
                },
                "train.lr_scheduler_hook": PLATEAU_HOOK,
            },
            "train.lr_scheduler.options.warmup",
            "value",
            "remove the warmup",
        ),
        (
            {"evaluation.period": None, "train.checkpoint.best": {"metric_key": "accuracy"}},
            "train.checkpoint.best",
            "missing",
            "BestCkptSaverHook follows evaluations",
        ),
        (
            {"evaluation.period": None, "train.hooks": [{"type": "EarlyStopHook", "metric_key": "accuracy"}]},
            "train.hooks[0]",
            "missing",
            "EarlyStopHook follows evaluations",
        ),
        (
            {"train.checkpoint.best": {"metric_key": ""}},
            "train.checkpoint.best.metric_key",
            "value",
            "name of a metric",
        ),
        (
            {"train.lr_scheduler.lr_lambda": "<callable: f>"},
            "train.lr_scheduler.lr_lambda",
            "missing",
            "a program fills in",
        ),
    ],
)
def test_refused(options, key, kind, said):
    found = refusals(options)
    assert list(found) == [key]
    assert found[key].kind == kind
    assert said in str(found[key])


@pytest.mark.parametrize(
    "options",
    [
        {"train.lr_scheduler": PLATEAU, "train.lr_scheduler_hook": PLATEAU_HOOK},
        {"evaluation.period": None, "evaluation.metrics": None},
        {"evaluation.metrics": "seq-cls-metric"},
        {"task": "text-classification", "evaluation.metrics": None},
        {"train.optimizer_hook": {"type": "NoneOptimizerHook"}},
        {"train.optimizer.options": {"grad_clip": {"max_norm": math.inf}}},
        {"train.hooks": [{"type": "adapter.hooks.iter_timer.IterTimerHook"}]},
        {"train.hooks": [{"type": "FSDPHook"}, {"type": "MegatronHook"}]},
    ],
)
def test_accepted(options):
    assert refusals(options) == {}


def test_a_keyword_that_adds_a_hook_is_accepted():
    assert not refusals({}, {"launcher": "mpi"})


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "config", [{}, {"train": 1, "evaluation": 1, "model": 1}, {"train": {"hooks": 1, "optimizer": 1}}]
)
def test_rules_bear_any_config(rule, config):
    assert all(problem.key for problem in rule(config, {}))
