from __future__ import annotations

import pytest

from adapter import Hook, Priority
from adapter.hooks.hook_list import HookList, does_something, run_order
from tests.runs import Recorder, make, messages, run


class Named(Hook):
    """Appends its name to ``calls`` at two stages."""

    def __init__(self, name, priority=Priority.NORMAL, rank=0, calls=None):
        self.name = name
        self.PRIORITY = priority
        self.RANK = rank
        self.calls = [] if calls is None else calls

    def after_train_iter(self, trainer):
        self.calls.append(self.name)

    def before_iter(self, trainer):
        self.calls.append(f"before {self.name}")


def filled(*hooks):
    found = HookList()
    for hook in hooks:
        found.add(hook)
    return found


@pytest.mark.parametrize(
    ("given", "order"),
    [
        ([("a", "LOW"), ("b", "HIGH")], "ba"),
        ([("a", 50), ("b", "normal"), ("c", Priority.NORMAL)], "abc"),
        ([("a", 70), ("b", 70, -10), ("c", 70, -50)], "cba"),
        ([("a", 90, -99), ("b", 70)], "ba"),
        ([("a", 100), ("b", 0), ("c", 100), ("d", 0)], "bdac"),
    ],
)
def test_order(given, order):
    hooks = filled(*(Named(*each) for each in given))
    assert "".join(hook.name for hook in hooks) == order


@pytest.mark.parametrize("given", ["EvaluationHook", None, Hook])
def test_refuses_what_is_no_hook(given):
    with pytest.raises(TypeError, match=r"instance of adapter\.Hook"):
        HookList().add(given)


def test_is_a_sequence():
    first, second = Named("a"), Named("b")
    hooks = filled(first, second)
    assert (len(hooks), hooks[0], hooks[1], list(hooks)) == (2, first, second, [first, second])


@pytest.mark.parametrize(
    ("method", "called"),
    [
        ("run", ["high", "update", "normal"]),
        ("run_until_update", ["high", "update"]),
        ("run_after_update", ["normal"]),
    ],
)
def test_halves_of_a_stage(tmp_path, method, called):
    calls = []
    hooks = filled(
        Named("normal", calls=calls), Named("update", "ABOVE_NORMAL", calls=calls), Named("high", 30, calls=calls)
    )
    getattr(hooks, method)("after_train_iter", make(tmp_path))
    assert calls == called


def test_shared_default_runs_in_its_stage(tmp_path):
    hook = Named("a")
    filled(hook).run("before_train_iter", make(tmp_path))
    assert hook.calls == ["before a"]


def test_a_hook_added_later_runs_too(tmp_path):
    calls = []
    trainer = make(tmp_path)
    hooks = filled(Named("a", calls=calls))
    hooks.run("after_train_iter", trainer)
    hooks.add(Named("b", 0, calls=calls))
    hooks.run("after_train_iter", trainer)
    assert calls == ["a", "b", "a"]


def test_in_stage():
    acting, idle = Named("a"), Hook()
    hooks = filled(idle, acting)
    assert hooks.in_stage("after_train_iter") == [acting]
    assert hooks.in_stage("before_run") == []


class Own(Hook):
    def after_breakfast(self, trainer):
        pass


def by_instance(stage):
    hook = Hook()
    setattr(hook, stage, print)
    return hook


@pytest.mark.parametrize(
    ("hook", "stage", "expected"),
    [
        (Hook(), "before_run", False),
        (by_instance("before_run"), "before_run", True),
        (by_instance("after_iter"), "after_train_iter", True),
        (by_instance("after_iter"), "after_val_iter", False),
        (Own(), "after_breakfast", True),
        (Hook(), "after_breakfast", False),
    ],
)
def test_does_something(hook, stage, expected):
    assert does_something(hook, stage) is expected


def test_run_order():
    assert run_order(Named("a", "LOW", -20)) == (70, -20)


class Clumsy(Hook):
    """Fails at one stage, in the second epoch."""

    PRIORITY = "HIGH"

    def __init__(self, stage):
        setattr(self, stage, self.fail)

    def fail(self, trainer):
        if trainer.epoch == 1:
            raise LookupError("as asked")


@pytest.mark.parametrize(
    ("stage", "done"),
    [
        ("before_train_epoch", 3),
        ("before_train_iter", 3),
        ("after_train_iter", 3),
        ("after_train_epoch", 6),
        ("before_val", 6),
        ("after_val_iter", 6),
    ],
)
def test_a_hook_that_fails_is_named_in_the_log(tmp_path, stage, done):
    """Two epochs of three iterations; nothing is logged for a hook that does not fail."""
    with pytest.raises(LookupError, match="as asked"):
        run(tmp_path, [{"type": "EvaluationHook"}], callbacks=[Recorder(stage, id), Clumsy(stage)])
    failed = [line for line in messages(tmp_path) if "failed" in line]
    expected = [f"Clumsy failed in stage {stage}, epoch 2, after {done} iterations"]
    if "val" in stage:  # which the EvaluationHook runs
        expected.append("EvaluationHook failed in stage after_train_epoch, epoch 2, after 6 iterations")
    assert failed == expected


def test_a_hook_that_asks_to_leave_has_not_failed(tmp_path):
    def leave(trainer):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        run(tmp_path, callbacks=[Recorder("after_train_iter", leave)])
    assert not [line for line in messages(tmp_path) if "failed" in line]
