from __future__ import annotations

import pytest

from adapter.schema.schedule_length import schedule_length

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
