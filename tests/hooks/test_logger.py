from __future__ import annotations

import pytest

from adapter.hooks.logger import LoggerHook
from tests.runs import Recorder, make, run


class Lines(LoggerHook):
    """Keeps (iteration of the run, name to value) of each line."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.lines = []

    def log(self, trainer):
        self.lines.append((trainer.iter, dict(trainer.log_buffer.output)))


# 2 epochs of 5 iterations
@pytest.mark.parametrize(
    ("settings", "iterations"),
    [
        ({"interval": 2}, [1, 3, 6, 8]),
        ({"interval": 2, "ignore_last": False}, [1, 3, 4, 6, 8, 9]),
        ({"interval": 2, "by_epoch": False}, [1, 3, 5, 7, 9]),
        ({"interval": 3, "by_epoch": False, "ignore_last": False}, [2, 4, 5, 8, 9]),
        ({"interval": 5}, [4, 9]),
        ({"interval": 6}, []),
        ({"interval": 0}, []),
        ({}, []),
    ],
)
def test_when_a_line_is_due(tmp_path, settings, iterations):
    logger = Lines(**settings)
    run(tmp_path, samples=20, callbacks=[logger])
    assert [iteration for iteration, _ in logger.lines] == iterations


def test_a_line_averages_the_last_interval_of_its_epoch(tmp_path):
    logger = Lines(interval=3, by_epoch=False, ignore_last=False)
    losses = Recorder("after_train_iter", lambda trainer: trainer.train_outputs["loss"].item())
    run(tmp_path, samples=20, callbacks=[logger, losses])
    windows = {2: (0, 3), 4: (2, 5), 5: (5, 6), 8: (6, 9), 9: (7, 10)}  # iteration 5 is the first of its epoch
    for iteration, line in logger.lines:
        start, end = windows[iteration]
        assert line["loss"] == pytest.approx(sum(losses.seen[start:end]) / (end - start), rel=1e-6)


def test_an_evaluation_makes_a_line(tmp_path):
    logger = Lines()
    run(tmp_path, [{"type": "EvaluationHook"}], callbacks=[logger])
    assert [(iteration, list(line)) for iteration, line in logger.lines] == [
        (3, ["lr", "evaluation/accuracy"]),
        (6, ["lr", "evaluation/accuracy"]),
    ]


def test_all_loggers_see_a_line_and_the_last_empties_the_buffer(tmp_path):
    first, second = Lines(interval=2), Lines(interval=3)
    output = Recorder("after_train_iter", lambda trainer: (dict(trainer.log_buffer.output), trainer.log_buffer.ready))
    run(tmp_path, epochs=1, samples=12, callbacks=[first, second, output])
    assert [iteration for iteration, _ in first.lines] == [1]  # ready at 2 only after its turn
    assert [iteration for iteration, _ in second.lines] == [1, 2]
    assert (first.empties_buffer, second.empties_buffer) == (False, True)
    assert output.seen == [({"lr": 0.1}, False), ({}, False), ({}, False)]


def test_leaves_the_losses_to_the_progress_bar(tmp_path):
    trainer = run(tmp_path, callbacks=[Lines(interval=3)])
    assert trainer.last_losses == {"loss": pytest.approx(trainer.log_buffer.val_history["loss"][-1], abs=0.5)}


def test_log_must_be_defined(tmp_path):
    with pytest.raises(NotImplementedError, match=r"LoggerHook must define log\(trainer\)"):
        LoggerHook().log(make(tmp_path))
