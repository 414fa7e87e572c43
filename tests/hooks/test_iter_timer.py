from __future__ import annotations

import time

import pytest

from tests.runs import Net, Points, run

LOAD, STEP = 0.004, 0.006  # seconds a sample and a forward pass


class SlowPoints(Points):
    def __getitem__(self, i):
        time.sleep(LOAD)
        return super().__getitem__(i)


class SlowNet(Net):
    def forward(self, x, label):
        time.sleep(STEP)
        return super().forward(x, label)


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """The log buffer's history of an epoch of 3 iterations of 4 samples."""
    folder = tmp_path_factory.mktemp("run")
    hooks = [{"type": "IterTimerHook"}]
    trainer = run(folder, hooks, epochs=1, model=SlowNet(), train_dataset=SlowPoints(12))
    return trainer.log_buffer.val_history


def test_one_value_an_iteration(history):
    assert {name: len(values) for name, values in history.items()} == {"data_load_time": 3, "loss": 3, "iter_time": 3}


def test_data_load_time_is_the_wait_for_a_batch(history):
    assert all(4 * LOAD <= each < 4 * LOAD + 0.1 for each in history["data_load_time"])


def test_iter_time_includes_the_wait(history):
    waits, whole = history["data_load_time"], history["iter_time"]
    assert all(wait + STEP <= each for wait, each in zip(waits, whole, strict=True))
