from __future__ import annotations

import time

import pytest

from tests.runs import Net, Points, Recorder, run

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
def timed(tmp_path_factory):
    """The log buffer's history of an epoch of 3 iterations of 4 samples, and the seconds the epoch took."""
    folder = tmp_path_factory.mktemp("run")
    clock = [Recorder(stage, lambda _: time.perf_counter()) for stage in ("before_train_epoch", "after_train_epoch")]
    clock[0].PRIORITY = "HIGHEST"
    data = {"model": SlowNet(), "train_dataset": SlowPoints(12)}
    trainer = run(folder, [{"type": "IterTimerHook"}], epochs=1, callbacks=clock, **data)
    return trainer.log_buffer.val_history, clock[1].seen[0] - clock[0].seen[0]


def test_one_value_an_iteration(timed):
    lengths = {name: len(values) for name, values in timed[0].items()}
    assert lengths == {"data_load_time": 3, "loss": 3, "iter_time": 3}


def test_data_load_time_is_at_least_the_wait_for_a_batch(timed):
    assert all(each >= 4 * LOAD for each in timed[0]["data_load_time"])


def test_iterations_do_not_overlap(timed):
    history, seconds = timed
    assert 3 * (4 * LOAD + STEP) <= sum(history["iter_time"]) <= seconds


def test_iter_time_includes_the_wait(timed):
    waits, whole = timed[0]["data_load_time"], timed[0]["iter_time"]
    assert all(wait + STEP <= each for wait, each in zip(waits, whole, strict=True))
