from __future__ import annotations

import math

import pytest

from adapter.config.config import Config
from adapter.dialects.move import Move
from adapter.schema import check
from adapter.schema.check import check_section
from adapter.schema.run import Run


def problems(config):
    return {problem.key: problem for problem in check_section(Run, config)}


@pytest.mark.parametrize(
    ("config", "key", "found", "allowed"),
    [
        ({"train": {"max_epochs": 0}}, "train.max_epochs", "found 0", "an integer of 1 or more"),
        ({"train": {"max_epochs": "3"}}, "train.max_epochs", 'found "3"', "an integer of 1 or more"),
        ({"train": {"max_epochs": 3.0}}, "train.max_epochs", "found 3.0", "an integer of 1 or more"),
        (
            {"train": {"max_epochs": True}},
            "train.max_epochs",
            "found true",
            "an integer of 1 or more",
        ),
        ({"train": "fast"}, "train", 'found "fast"', "a mapping"),
        ({"train": ["fast"]}, "train", 'found ["fast"]', "a mapping"),
        ({"train": {"hooks": {"type": "X"}}}, "train.hooks", 'found {"type": "X"}', "a list"),
        ({"train": {"hooks": ["X"]}}, "train.hooks[0]", 'found "X"', "a mapping"),
        ({"train": {"hooks": [{"type": 3}]}}, "train.hooks[0].type", "found 3", "a string"),
        (
            {"train": {"hooks": [{"type": "EarlyStopHook", "metric_key": "f1", "patience": -1}]}},
            "train.hooks[0].patience",
            "found -1",
            "an integer of 0 or more",
        ),
        (
            {"train": {"optimizer": {"type": "SGD", "lr": "1e-4"}}},
            "train.optimizer.lr",
            'found "1e-4"',
            "a number of 0 or more",
        ),
        (
            {"train": {"optimizer": {"type": "SGD", "lr": math.nan}}},
            "train.optimizer.lr",
            "found NaN",
            "a number of 0 or more",
        ),
        (
            {"train": {"optimizer": {"type": "SGD", "lr": False}}},
            "train.optimizer.lr",
            "found false",
            "a number of 0 or more",
        ),
        (
            {"train": {"optimizer": {"type": "SGD", "options": {"cumulative_iters": 0}}}},
            "train.optimizer.options.cumulative_iters",
            "found 0",
            "an integer of 1 or more",
        ),
        (
            {"train": {"optimizer": {"type": "SGD", "options": {"loss_keys": 1}}}},
            "train.optimizer.options.loss_keys",
            "found 1",
            "a string or a list",
        ),
        (
            {
                "train": {
                    "lr_scheduler": {
                        "type": "StepLR",
                        "options": {"warmup": {"type": "Slow", "warmup_iters": 1}},
                    }
                }
            },
            "train.lr_scheduler.options.warmup.type",
            'found "Slow"',
            "LinearWarmup, ConstantWarmup, ExponentialWarmup",
        ),
        (
            {"train": {"checkpoint": {"best": {"metric_key": "f1", "rule": "most"}}}},
            "train.checkpoint.best.rule",
            'found "most"',
            "max, min",
        ),
        (
            {"train": {"dataloader": {"batch_size_per_gpu": None}}},
            "train.dataloader.batch_size_per_gpu",
            "found null",
            "an integer of 1 or more",
        ),
        (
            {"evaluation": {"dataloader": {"shuffle": "yes"}}},
            "evaluation.dataloader.shuffle",
            'found "yes"',
            "true or false",
        ),
        (
            {"evaluation": {"metrics": 1}},
            "evaluation.metrics",
            "found 1",
            "a string or a mapping or a list",
        ),
        ({"evaluation": {"metrics": [1]}}, "evaluation.metrics[0]", "found 1", "a string or a mapping"),
        ({"preprocessor": 1}, "preprocessor", "found 1", "a mapping or a list"),
    ],
)
def test_wrong_value(config, key, found, allowed):
    problem = problems(config)[key]
    assert (problem.found, problem.allowed, problem.kind) == (found, allowed, "value")


@pytest.mark.parametrize(
    "config",
    [
        {"train": None, "evaluation": None, "model": None, "dataset": {}, "preprocessor": []},
        {"train": {"max_epochs": "<expr: args.epochs>", "hooks": [{"type": "MyHook", "patience": -1}]}},
        {
            "train": {
                "optimizer": {
                    "type": "SGD",
                    "lr": 1,
                    "options": {"grad_clip": {"max_norm": 2, "norm_type": "inf"}},
                }
            }
        },
        {"train": {"optimizer": {"type": "SGD", "options": {"loss_keys": ["a", "b"], "grad_clip": None}}}},
        {
            "train": {
                "optimizer": {},
                "lr_scheduler": {},
                "optimizer_hook": {},
                "checkpoint": {"period": {"interval": 0}},
            }
        },
        {"evaluation": {"metrics": "f1"}},
        {"evaluation": {"metrics": ["f1", {"type": "f1", "average": "macro"}], "visualization": {}}},
        {"preprocessor": {"train": [{"type": "Resize"}]}, "experiment": {"seed": "x"}, "version": 1.0},
    ],
)
def test_good_values(config):
    assert problems(config) == {}


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"train": {"optimizer": {"lr": 0.1}}}, "train.optimizer.type"),
        ({"train": {"lr_scheduler": {"T_max": 1}}}, "train.lr_scheduler.type"),
        ({"train": {"hooks": [{"interval": 1}]}}, "train.hooks[0].type"),
        ({"train": {"checkpoint": {"best": {"rule": "max"}}}}, "train.checkpoint.best.metric_key"),
        (
            {"train": {"lr_scheduler_hook": {"type": "PlateauLrSchedulerHook"}}},
            "train.lr_scheduler_hook.metric_key",
        ),
        ({"evaluation": {"metrics": [{"average": "macro"}]}}, "evaluation.metrics[0].type"),
    ],
)
def test_required_key_is_missing(config, key):
    assert {key: problem.kind for key, problem in problems(config).items()} == {key: "missing"}


@pytest.mark.parametrize(
    ("value", "fix"),
    [("3", "write 3 without quotes"), ("three", ""), ([], "")],
)
def test_number_in_quotes(value, fix):
    assert problems({"train": {"max_epochs": value}})["train.max_epochs"].fix == fix


def test_truth_value_as_a_word():
    assert problems({"train": {"use_fp16": "off"}})["train.use_fp16"].fix == "write false"


def test_all_problems_at_once_with_lines_in_order():
    text = "train:\n  max_epochs: 0\n  dataloader: {batch_size_per_gpu: x}\n  optimizer: {type: SGD, lr: -1}\n"
    config = Config.from_string(text, ".yaml")
    found = [(problem.line, problem.key) for problem in check(config, {"model": object()}) if problem.kind == "value"]
    assert found == [
        (2, "train.max_epochs"),
        (3, "train.dataloader.batch_size_per_gpu"),
        (4, "train.optimizer.lr"),
    ]


def test_a_problem_of_a_moved_key_names_what_the_user_wrote():
    config = Config.from_string("train:\n  hooks:\n  - type: TextLoggerHook\n    interval: x\n", ".yaml")
    moves = [Move("train.hooks[0]", "train.logging", "moved")]
    config.train = {"logging": {"interval": "x"}, "max_epochs": 1}
    problem = next(problem for problem in check(config, moves=moves) if problem.kind == "value")
    assert (problem.key, problem.line) == ("train.hooks[0].interval", 4)


def test_keywords_are_checked_as_the_keys_they_stand_for():
    found = {problem.key: problem.found for problem in check(Config({}), {"max_epochs": 0, "work_dir": None})}
    assert found["max_epochs"] == "found 0"
    assert "train.max_epochs" not in found


@pytest.mark.parametrize(
    ("keywords", "gone"),
    [
        ({"model": object()}, "model.type"),
        ({"optimizers": (object(), None)}, "train.optimizer.type"),
        ({"optimizers": (None, object())}, "train.lr_scheduler.type"),
        ({"max_epochs": 2}, "train.max_epochs"),
    ],
)
def test_what_code_gives_is_not_asked_of_the_config(keywords, gone):
    config = Config({"model": {"type": "none"}, "train": {"optimizer": {"lr": 1.0}, "lr_scheduler": {"gamma": 1}}})
    asked = {problem.key for problem in check(config)}
    assert asked - {problem.key for problem in check(config, keywords)} == {gone}
