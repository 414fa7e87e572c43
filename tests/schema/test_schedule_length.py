from __future__ import annotations

import re

import pytest

from adapter.schema.schedule_length import schedule_length, warmup_length

STEPS = {"options": {"by_epoch": False}}


@pytest.mark.parametrize(
    ("epochs", "scheduler", "keywords", "numbers"),
    [
        (3, {"type": "CosineAnnealingLR", "T_max": 20}, {}, ("20", "3 epochs")),
        (30, {"type": "CosineAnnealingLR", "T_max": 20}, {}, ("20", "30 epochs")),
        (20, {"type": "CosineAnnealingLR", "T_max": 20}, {}, None),
        (20, {"type": "CosineAnnealingLR", "T_max": 20}, {"max_epochs": 5}, ("20", "5 epochs")),
        (3, {"type": "CosineAnnealingLR", "T_max": 20, **STEPS}, {}, None),
        (
            3,
            {"type": "CosineAnnealingLR", "T_max": 20, **STEPS},
            {"train_iters_per_epoch": 10},
            ("20", "30 iterations"),
        ),
        (3, {"type": "CosineAnnealingLR", "T_max": 20, "options": {"lr_strategy": "no"}}, {}, None),
        (
            3,
            {"type": "LinearLR", "start_factor": 1.0, "end_factor": 0.0, "total_iters": 2},
            {},
            ("2", "3 epochs"),
        ),
        (3, {"type": "LinearLR", "total_iters": 2}, {}, None),
        (3, {"type": "LinearLR", "total_iters": 4}, {}, ("4", "3 epochs")),
        (3, {"type": "PolynomialLR", "total_iters": 2}, {}, ("2", "3 epochs")),
        (3, {"type": "StepLR", "step_size": 9}, {}, None),
        (None, {"type": "CosineAnnealingLR", "T_max": 20}, {}, None),
        (3, {"type": "CosineAnnealingLR"}, {}, None),
        (3, {}, {}, None),
    ],
)
def test_both_numbers_are_told(epochs, scheduler, keywords, numbers):
    said = list(schedule_length({"train": {"max_epochs": epochs, "lr_scheduler": scheduler}}, keywords))
    assert len(said) == (numbers is not None)
    assert all(number in said[0] for number in numbers or ())


def test_the_old_hook_says_the_unit():
    train = {
        "max_epochs": 3,
        "lr_scheduler": {"type": "CosineAnnealingLR", "T_max": 20},
        "lr_scheduler_hook": {"by_epoch": False},
    }
    assert list(schedule_length({"train": train}, {})) == []


def warmup(length, **options):
    return {"lr_scheduler": {"type": "StepLR", "options": {"warmup": {"warmup_iters": length}, **options}}}


@pytest.mark.parametrize(
    ("train", "keywords", "told"),
    [
        (
            warmup(4),
            {},
            "train.lr_scheduler.options.warmup.warmup_iters is 4, but the run ends earlier, after 3 epochs",
        ),
        (warmup(3), {}, None),
        (warmup(4), {"max_epochs": 9}, None),
        (warmup(31, by_epoch=False), {"train_iters_per_epoch": 10}, "warmup_iters is 31, .* after 30 iterations"),
        (warmup(31, by_epoch=False), {}, None),
        ({"lr_scheduler_hook": {"warmup": {"warmup_iters": 4}}}, {}, "lr_scheduler_hook.warmup.warmup_iters is 4"),
        ({"lr_scheduler": {"type": "linear", "num_warmup_steps": 4}}, {}, "lr_scheduler.num_warmup_steps is 4, .* 3 e"),
        (
            {"optimizer": {"options": {"cumulative_iters": 7}}, "train_iters_per_epoch": 2},
            {},
            "cumulative_iters is 7, but the run ends before the first optimizer step, after 6 iterations",
        ),
        (
            {"optimizer_hook": {"cumulative_iters": 7}},
            {"train_iters_per_epoch": 2},
            "optimizer_hook.cumulative_iters is",
        ),
        ({"optimizer": {"options": {"cumulative_iters": 6}}, "train_iters_per_epoch": 2}, {}, None),
        ({"optimizer": {"options": {"cumulative_iters": 7}}}, {}, None),
    ],
)
def test_what_is_longer_than_the_run_is_told(train, keywords, told):
    said = list(warmup_length({"train": {"max_epochs": 3, **train}}, keywords))
    assert len(said) == (told is not None)
    assert all(re.search(told, line) for line in said)
