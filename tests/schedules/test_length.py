from __future__ import annotations

import pytest

from adapter.config import Config
from adapter.errors import ConfigError
from adapter.plan import make_plan
from adapter.schedules.length import schedule_steps


def plan(**train):
    return make_plan(Config({"train": {"optimizer": {"type": "SGD", "lr": 0.1}, **train}}))


@pytest.mark.parametrize(
    ("train", "steps"),
    [
        ({}, 4),
        ({"lr_scheduler": {"options": {"by_epoch": False}}}, 20),
        ({"lr_scheduler": {"options": {"lr_strategy": "by_step"}}}, 20),
        ({"lr_scheduler": {"options": {"lr_strategy": "no"}}}, 4),
        ({"lr_scheduler_hook": {"type": "LrSchedulerHook", "by_epoch": False}}, 20),
        ({"lr_scheduler_hook": {"type": "NoneLrSchedulerHook", "by_epoch": False}}, 20),
        (
            {
                "lr_scheduler": {"options": {"by_epoch": False}},
                "optimizer": {"type": "SGD", "options": {"cumulative_iters": 3}},
            },
            18,
        ),
    ],
)
def test_steps_of_a_run_of_four_epochs_and_twenty_iterations(train, steps):
    assert schedule_steps(plan(**train), 4, lambda: 20) == steps


def test_iterations_that_nobody_knows_are_asked_for():
    def unknown():
        raise ValueError("the data have no length")

    assert schedule_steps(plan(), 4, unknown) == 4
    with pytest.raises(ConfigError, match=r"num_training_steps: not given: the data have no length"):
        schedule_steps(plan(lr_scheduler={"options": {"by_epoch": False}}), 4, unknown)
