"""Rates, in closed form; those of whole runs are compared with recordings in test_recorded.py."""

from __future__ import annotations

import pytest
import torch

from adapter.runner import registry

NAMES = ("constant_lr", "linear_warmup_step_lr", "linear_warmup_cosine_lr", "linear_warmup_cosine_lr_step-wise")
TWO = {"max_epoch": 4, "min_lr": 0.1, "init_lr": 1.0, "iters_per_epoch": 5}


def rate(name, epoch, step, **arguments):
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([{"params": [parameter], "lr_scale": 0.5}], lr=9.0)
    schedule = registry.get_lr_scheduler_class(name)(optimizer=optimizer, **{**TWO, **arguments})
    schedule.step(cur_epoch=epoch, cur_step=step)
    return 2 * optimizer.param_groups[0]["lr"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("step", "start", "want"), [(0, 0.2, 0.2), (1, 0.2, 0.4), (3, 0.2, 0.8), (0, -1, 1.0), (2, 0.0, 0.5)]
)
def test_warmup(name, step, start, want):
    assert rate(name, 0, step, warmup_steps=4, warmup_start_lr=start) == pytest.approx(want)


@pytest.mark.parametrize(
    ("name", "epoch", "step", "arguments", "want"),
    [
        ("constant_lr", 3, 4, {}, 1.0),
        ("linear_warmup_step_lr", 2, 0, {"decay_rate": 0.5}, 0.25),
        ("linear_warmup_step_lr", 3, 0, {"decay_rate": 0.1}, 0.1),
        ("linear_warmup_cosine_lr", 2, 3, {}, 0.55),
        ("linear_warmup_cosine_lr", 0, 3, {}, 1.0),
        ("linear_warmup_cosine_lr_step-wise", 2, 0, {}, 0.55),
        ("linear_warmup_cosine_lr_step-wise", 0, 0, {}, 1.0),
        ("linear_warmup_cosine_lr_step-wise", 1, 1, {"warmup_steps": 12, "warmup_start_lr": 0.0}, 0.5),
        ("constant_lr", 1, 1, {"warmup_steps": 12, "warmup_start_lr": 0.0}, 1.0),
        ("constant_lr", 1, 1, {"warmup_steps": 12, "warmup_start_lr": 0.0, "warmup_scope": "global"}, 0.5),
        ("constant_lr", 2, 3, {"warmup_steps": 12, "warmup_start_lr": 0.0, "warmup_scope": "global"}, 1.0),
    ],
)
def test_after_the_warmup(name, epoch, step, arguments, want):
    assert rate(name, epoch, step, **arguments) == pytest.approx(want)
