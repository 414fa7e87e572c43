from __future__ import annotations

import copy

import pytest

from adapter.config.config import Config
from adapter.dialects.modelscope import merge_default_hooks, move_old_keys
from adapter.fates import fates, unread
from adapter.plan import make_plan


def rows(config):
    original = Config(config)
    moved = copy.deepcopy(original)
    merge_default_hooks(moved)
    moves = move_old_keys(moved)
    return {row.key: row for row in fates(original, moved, moves, make_plan(moved))}


@pytest.mark.parametrize(
    ("config", "key", "fate", "said"),
    [
        ({"train": {"max_epochs": 3}}, "train.max_epochs", "same", "Trainer: max_epochs"),
        ({"train": {"max_epochs": None}}, "train.max_epochs", "same", "null"),
        ({"train": {"batch_size": 3}}, "train.batch_size", "moved", "as train.dataloader.batch_size_per_gpu"),
        (
            {"train": {"hooks": [{"type": "CheckpointHook", "interval": 2}]}},
            "train.hooks[0].interval",
            "moved",
            "CheckpointHook (LOW 70): interval",
        ),
        (
            {"train": {"hooks": [{"type": "CheckpointHook"}, {"type": "EarlyStopHook", "metric_key": "f1"}]}},
            "train.hooks[1].metric_key",
            "same",
            "EarlyStopHook (VERY_LOW 90): metric_key",
        ),
        (
            {"train": {"logging": {"interval": 1}, "hooks": [{"type": "TextLoggerHook"}]}},
            "train.hooks[0].type",
            "dropped",
            "train.logging is given",
        ),
        (
            {"train": {"checkpoint": {"best": {"metric_key": "f1", "interval": 3}}}},
            "train.checkpoint.best.interval",
            "dropped",
            "best evaluations",
        ),
        (
            {
                "train": {
                    "optimizer": {"type": "SGD", "options": {"cumulative_iters": 2}},
                    "optimizer_hook": {"type": "NoneOptimizerHook"},
                }
            },
            "train.optimizer.options.cumulative_iters",
            "dropped",
            "train.optimizer_hook replaces",
        ),
        (
            {"train": {"optimizer_hook": {"type": "TorchAMPOptimizerHook"}, "use_fp16": True}},
            "train.use_fp16",
            "dropped",
            "mixed precision itself",
        ),
        (
            {"train": {"hooks": [{"type": "NoSuchHook"}]}},
            "train.hooks[0].type",
            "refused",
            "no hook is called 'NoSuchHook'",
        ),
        ({"train": {"loging": {"interval": 1}}}, "train.loging.interval", "unread", "did you mean logging?"),
        (
            {"train": {"logging": {"intervall": 1}}},
            "train.logging.intervall",
            "unread",
            "did you mean interval?",
        ),
        ({"experiment": {"name": "x"}}, "experiment.name", "unread", "a key of your own"),
        ({"train": {"criterion": {"name": "x"}}}, "train.criterion.name", "unread", "nothing reads it"),
        ({"dataset": {"test": {}}}, "dataset.test", "same", "data: test"),
        (
            {"train": {"parallel": {"find_unused_parameters": True}}},
            "train.parallel.find_unused_parameters",
            "same",
            "DistributedDataParallel",
        ),
        ({"parallel": {"bucket_cap_mb": 25}}, "parallel.bucket_cap_mb", "same", "DistributedDataParallel"),
        (
            {"train": {"dataloader": {"pin_memory": True}}},
            "train.dataloader.pin_memory",
            "same",
            "training data loader: pin_memory",
        ),
        (
            {"train": {"dataloader": {"pin_memry": True}}},
            "train.dataloader.pin_memry",
            "unread",
            "did you mean pin_memory?",
        ),
        ({"evaluation": {"dataloader": {"wrker": 1}}}, "evaluation.dataloader.wrker", "unread", ""),
        ({"train": {"dataloader": {"worker_init_fn": "x"}}}, "train.dataloader.worker_init_fn", "unread", "nothing"),
    ],
)
def test_documented_keys(config, key, fate, said):
    row = rows(config)[key]
    assert row.fate == fate
    assert said in f"{row.target} {row.note}"


@pytest.mark.parametrize(
    ("config", "fate", "said"),
    [
        ({"run": {"max_epoch": 3}}, "moved", "train.max_epochs"),
        ({"run": {"dist_url": "env://"}}, "dropped", "started"),
        ({"run": {"max_epochs": 3}}, "unread", "did you mean max_epoch?"),
        ({"runs": 1, "run": {}}, "unread", "did you mean run?"),
        ({"model": {"arch": "x"}}, "same", "model"),
    ],
)
def test_run_keys(config, fate, said):
    row = fates(Config(config), Config(config), (), None)[0]
    assert row.fate == fate
    assert said in f"{row.target} {row.note}"


def test_unread_keys_become_problems_with_their_lines():
    original = Config.from_string("train:\n  max_epochs: 1\n  loging: 2\n", ".yaml")
    problems = unread(fates(original, original, (), make_plan(original)))
    assert [(problem.key, problem.line, problem.fix) for problem in problems] == [
        ("train.loging", 3, "did you mean logging?")
    ]


def test_an_empty_config_has_no_rows():
    assert rows({}) == {}
