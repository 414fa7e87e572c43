from __future__ import annotations

import pytest

from adapter import ConfigError, Hook
from adapter.hooks.build import build_hook, hook_table
from adapter.hooks.early_stop import EarlyStopHook
from adapter.hooks.hook_list import HookList


class Picky(Hook):
    def __init__(self, size: int = 1):
        if size < 1:
            raise ValueError("size is less than 1")
        self.size = size


@pytest.mark.parametrize(
    ("type", "args", "cls", "has"),
    [
        ("EarlyStopHook", {"metric_key": "f1", "patience": 7}, EarlyStopHook, {"patience": 7, "metric_key": "f1"}),
        ("tests.hooks.test_build.Picky", {"size": 3}, Picky, {"size": 3, "PRIORITY": Hook.PRIORITY}),
        ("tests.hooks.test_build:Picky", {}, Picky, {"size": 1}),
    ],
)
def test_builds(type, args, cls, has):
    hook = build_hook(type, args)
    assert hook.__class__ is cls
    assert {name: getattr(hook, name) for name in has} == has


@pytest.mark.parametrize(
    ("type", "args", "text"),
    [
        ("EarlyStopHok", {}, "train.hooks[1].type: unknown hook 'EarlyStopHok'. Did you mean 'EarlyStopHook'?"),
        ("EarlyStopHook", {}, "train.hooks[1].metric_key: EarlyStopHook needs 'metric_key'"),
        ("EarlyStopHook", {"metric_key": "f1", "patiense": 1}, "train.hooks[1].patiense: EarlyStopHook takes no"),
        ("EarlyStopHook", {"metric_key": "f1", "rule": "mox"}, "train.hooks[1].rule: found 'mox'"),
        ("tests.hooks.test_build.Picky", {"size": 0}, "refuses its arguments: size is less than 1"),
        ("tests.hooks.test_build.Picky", {"size": "x"}, "refuses its arguments: '<' not supported"),
        ("tests.hooks.test_build.Picky", {"PRIORITY": 5}, "train.hooks[1].PRIORITY: Picky takes no argument"),
        ("pathlib.Path", {}, "'pathlib.Path' is no hook"),
    ],
)
def test_refuses(type, args, text):
    with pytest.raises(ConfigError) as caught:
        build_hook(type, args, "train.hooks[1]")
    assert text in str(caught.value)


class Loud(Hook):
    PRIORITY = 41

    def before_run(self, trainer):
        pass


class Late(Hook):
    PRIORITY = "low"

    def after_iter(self, trainer):
        pass


def test_table():
    hooks = HookList()
    for hook in (Late(), build_hook("OptimizerHook", {}), Loud(), Hook()):
        hooks.add(hook)
    assert hook_table(hooks) == "\n".join(
        [
            "Stage: before_run:",
            f"    (ABOVE_NORMAL) {'OptimizerHook':<35}",
            f"    (41          ) {'Loud':<35}",
            " " + "-" * 20,
            "Stage: after_train_iter:",
            f"    (ABOVE_NORMAL) {'OptimizerHook':<35}",
            f"    (LOW         ) {'Late':<35}",
            " " + "-" * 20,
        ]
    )
