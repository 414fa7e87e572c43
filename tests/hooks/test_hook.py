from __future__ import annotations

import pytest

from adapter import Hook
from tests.runs import Recorder, make, run, weights_of


class Nothing(Hook):
    pass


class EveryIter(Hook):
    def before_iter(self, trainer):
        pass


class Late(Hook):
    def after_run(self, trainer):
        pass

    def before_val_iter(self, trainer):
        pass

    def after_epoch(self, trainer):
        pass


class LateChild(Late):
    def before_run(self, trainer):
        pass


@pytest.mark.parametrize(
    ("cls", "stages"),
    [
        (Nothing, []),
        (EveryIter, ["before_train_iter"]),
        (Late, ["after_train_epoch", "before_val_iter", "after_run"]),
        (LateChild, ["before_run", "after_train_epoch", "before_val_iter", "after_run"]),
    ],
)
def test_triggered_stages(cls, stages):
    assert cls.get_triggered_stages() == stages


def test_every_stage_is_a_method():
    assert [stage for stage in Hook.stages if not callable(getattr(Hook, stage, None))] == []
    assert len(Hook.stages) == 13


def test_no_state_by_default():
    assert Nothing().state_dict() == {}


class Diary(Hook):
    """Writes down each stage with the trainer's counters."""

    PRIORITY = "LOWEST"

    def __init__(self):
        self.pages = []

    def __getattribute__(self, name):
        if name in Hook.stages:
            return lambda trainer: self.pages.append((name, trainer.epoch, trainer.iter, trainer.inner_iter))
        return super().__getattribute__(name)

    @classmethod
    def overrides(cls, stage):
        return True


class Shared(Hook):
    """Overrides the four shared defaults and counts their calls."""

    def __init__(self):
        self.calls = dict.fromkeys(("before_epoch", "before_iter", "after_iter", "after_epoch"), 0)

    def before_epoch(self, trainer):
        self.calls["before_epoch"] += 1

    def before_iter(self, trainer):
        self.calls["before_iter"] += 1

    def after_iter(self, trainer):
        self.calls["after_iter"] += 1

    def after_epoch(self, trainer):
        self.calls["after_epoch"] += 1


HELPERS = {
    "every_n_epochs": lambda trainer: Hook.every_n_epochs(trainer, 2),
    "every_n_iters": lambda trainer: Hook.every_n_iters(trainer, 2),
    "every_n_inner_iters": lambda trainer: Hook.every_n_inner_iters(trainer, 2),
    "every_0_iters": lambda trainer: Hook.every_n_iters(trainer, 0),
    "end_of_epoch": Hook.end_of_epoch,
    "is_last_epoch": Hook.is_last_epoch,
    "is_last_iter": Hook.is_last_iter,
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What hooks saw in 2 epochs of 3 iterations with an evaluation of 2 after each."""
    diary, shared = Diary(), Shared()
    helpers = {name: Recorder("after_train_iter", helper) for name, helper in HELPERS.items()}
    evaluation = [{"type": "EvaluationHook"}]
    trainer = make(tmp_path_factory.mktemp("run"), evaluation, callbacks=[diary, shared, *helpers.values()])
    trainer.train()
    return {
        "events": diary.pages,
        "shared": shared.calls,
        **{name: [i for i, yes in enumerate(hook.seen) if yes] for name, hook in helpers.items()},
    }


def epoch_events(epoch, first_iter):
    iters = [(stage, epoch, first_iter + i, i) for i in range(3) for stage in ("before_train_iter", "after_train_iter")]
    done = (epoch, first_iter + 3, 2)
    evaluation = ["before_val", "before_val_epoch", *["before_val_iter", "after_val_iter"] * 2, "after_val_epoch"]
    return [
        ("before_train_epoch", epoch, first_iter, 0),
        *iters,
        *((stage, *done) for stage in (*evaluation, "after_val", "after_train_epoch")),
    ]


def test_order_of_stages_and_counters(seen):
    assert seen["events"] == [
        ("after_init", 0, 0, 0),
        ("before_run", 0, 0, 0),
        *epoch_events(0, 0),
        *epoch_events(1, 3),
        ("after_run", 2, 6, 0),
    ]


def test_shared_defaults_see_training_only(seen):
    assert seen["shared"] == {"before_epoch": 2, "before_iter": 6, "after_iter": 6, "after_epoch": 2}


@pytest.mark.parametrize(
    ("helper", "iterations"),
    [
        ("every_n_epochs", [3, 4, 5]),
        ("every_n_iters", [1, 3, 5]),
        ("every_n_inner_iters", [1, 4]),
        ("every_0_iters", []),
        ("end_of_epoch", [2, 5]),
        ("is_last_epoch", [3, 4, 5]),
        ("is_last_iter", [5]),
    ],
)
def test_helpers(seen, helper, iterations):
    assert seen[helper] == iterations


@pytest.mark.parametrize(("priority", "updates"), [("HIGH", 0), ("NORMAL", 1)])
def test_priority_decides_whether_weights_are_updated(tmp_path, priority, updates):
    recorder = Recorder("after_train_iter", weights_of, priority)
    trainer = make(tmp_path, epochs=1, samples=4, callbacks=[recorder])
    before = weights_of(trainer)
    trainer.train()
    assert recorder.seen[0] == (weights_of(trainer) if updates else before)


def test_a_hook_before_the_update_may_change_the_loss(tmp_path):
    def no_loss(trainer):
        trainer.train_outputs["loss"] = trainer.train_outputs["loss"] * 0

    trainer = make(tmp_path, epochs=1, callbacks=[Recorder("after_train_iter", no_loss, "HIGH")])
    before = weights_of(trainer)
    trainer.train()
    assert weights_of(trainer) == before


def test_stop_ends_the_run_after_the_epoch(tmp_path):
    def stop(trainer):
        trainer._stop_training |= trainer.iter == 1

    epochs = Recorder("after_train_epoch", lambda trainer: (trainer.epoch, trainer.iter))
    run(tmp_path, epochs=3, callbacks=[epochs, Recorder("before_train_iter", stop)])
    assert epochs.seen == [(0, 3)]
