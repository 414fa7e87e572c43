from __future__ import annotations

import logging

import pytest

from tests.runner import tiny


@pytest.mark.parametrize(
    ("changes", "rates"),
    [
        ({}, [0.0, 0.4]),  # each: at the end of the first epoch of two, and of the second
        ({"warmup_scope": "global"}, [0.0, 0.0]),
    ],
)
def test_a_warmup_longer_than_the_first_epoch(tmp_path, caplog, changes, rates):
    changes = {"init_lr": 0.4, "warmup_lr": 0.0, "warmup_steps": 10**9, "lr_sched": "constant_lr", **changes}
    with caplog.at_level(logging.WARNING, "adapter"):
        lines = tiny.log_of(tiny.fit(tmp_path, max_epoch=2, **changes))
    assert [float(line["train_lr"]) for line in lines if "train_lr" in line] == pytest.approx(rates, abs=1e-6)
    assert ("the warmup has 1000000000 steps" in caplog.text) == ("warmup_scope" not in changes)
