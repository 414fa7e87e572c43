from __future__ import annotations

from pathlib import Path

import pytest

from tests.runner import tiny


@pytest.mark.parametrize(("eval_freq", "epochs", "evaluated"), [(1, 3, [0, 1, 2]), (2, 4, [0, 2, 3]), (9, 2, [0, 1])])
def test_evaluates_the_first_epoch_every_so_many_and_the_last(
    tmp_path: Path, eval_freq: int, epochs: int, evaluated: list[int]
) -> None:
    lines = tiny.log_of(tiny.fit(tmp_path, eval_freq=eval_freq, max_epoch=epochs))
    trained = [
        sum("train_loss" in line for line in lines[:index]) for index, line in enumerate(lines) if "val_ACC" in line
    ]
    assert [count - 1 for count in trained] == evaluated
