from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from adapter.hooks.tensorboard import TensorboardHook
from tests.runs import make, run

EVALUATION = {"type": "EvaluationHook"}


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Tag to (step, value) of each point in the event files of a folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tensorboard's own, of the packages it uses
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        events = EventAccumulator(str(folder)).Reload()
    return {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def steps(folder: Path) -> dict[str, list[int]]:
    return {tag: [step for step, _ in points] for tag, points in scalars(folder).items()}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"interval": 2},
            {"lr": [2, 4, 5, 7], "loss": [2, 5], "evaluation/accuracy": [4, 7]},
        ),
        (
            {"interval": 2, "by_epoch": False, "skip_keys": ["lr"]},
            {
                "loss": [2, 4, 6],
                "iter_time": [2, 4, 6],
                "data_load_time": [2, 4, 6],
                "evaluation/accuracy": [4, 7],
            },
        ),
        (
            {"interval": 3, "skip_keys": "lr"},
            {"loss": [3, 6], "iter_time": [3, 6], "data_load_time": [3, 6], "evaluation/accuracy": [4, 7]},
        ),
        (
            {"interval": 3, "skip_keys": None},
            {
                "lr": [3, 6],
                "loss": [3, 6],
                "iter_time": [3, 6],
                "data_load_time": [3, 6],
                "evaluation/accuracy": [4, 7],
            },
        ),
    ],
)
def test_tags_and_steps(tmp_path, settings, expected):
    run(tmp_path, [{"type": "TensorboardHook", **settings}, {"type": "IterTimerHook"}, EVALUATION])
    assert steps(tmp_path / "tensorboard_output") == expected


def test_values(tmp_path):
    trainer = run(tmp_path, [{"type": "TensorboardHook", "interval": 1}, EVALUATION])
    found = scalars(tmp_path / "tensorboard_output")
    assert [value for _, value in found["lr"]] == pytest.approx([0.1, 0.1, 0.1, 0.05, 0.05, 0.05])
    assert found["evaluation/accuracy"][-1][1] == pytest.approx(trainer.metric_values["accuracy"])
    assert found["loss"][-1][1] == pytest.approx(trainer.log_buffer.val_history["loss"][-1])


def test_out_dir(tmp_path):
    run(tmp_path / "work", callbacks=[TensorboardHook(out_dir=str(tmp_path / "board"), interval=1)])
    assert steps(tmp_path / "board")["loss"] == [1, 2, 3, 4, 5, 6]


def test_numbers_only(tmp_path):
    hook = TensorboardHook(interval=1)
    trainer = make(tmp_path, callbacks=[hook])
    hook.before_run(trainer)
    trainer.log_buffer.output.update({"loss": 1.0, "note": "text", "flag": True, "several": [1, 2], "count": 3})
    hook.log(trainer)
    hook.after_run(trainer)
    assert set(scalars(tmp_path / "tensorboard_output")) == {"loss", "count"}
