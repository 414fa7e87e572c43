from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from adapter import EpochBasedTrainer
from adapter.hooks.tensorboard import TensorboardHook
from tests.runs import make, messages, run
from tests.small_runs import build, settings

EVALUATION = {"type": "EvaluationHook"}
VISUALIZATION = {"evaluation__visualization": {"size": 5}}


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Tag to (step, value) of each point in the event files of a folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tensorboard's own, of the packages it uses
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        events = EventAccumulator(str(folder)).Reload()
    return {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def images(folder: Path) -> dict[str, list[tuple[int, int, int]]]:
    """Tag to (step, width, height) of each image."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        events = EventAccumulator(str(folder), size_guidance={"images": 0}).Reload()
    return {tag: [(e.step, e.width, e.height) for e in events.Images(tag)] for tag in events.Tags()["images"]}


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


class Drawing(EpochBasedTrainer):
    """Leaves images of 5 x 4 in every evaluation, in each of the forms there are."""

    def visualization(self, batch_result, dataset, size):
        assert (len(batch_result["logits"]), len(dataset)) in ((4, 6), (2, 6))
        shade = np.full((4, size), 100, dtype=np.uint8)
        colored = np.stack([shade] * 3, axis=2)
        output = self.visualization_buffer.output
        output["named"] = {"images": [colored], "filenames": ["a.png"]}
        output["listed"] = [shade, colored, torch.from_numpy(colored).permute(2, 0, 1), np.random.rand(4, size, 3)]


def test_what_visualization_leaves_becomes_images(tmp_path):
    hooks = [{"type": "TensorboardHook", "interval": 1}, EVALUATION]
    trainer = build(tmp_path, settings(train__hooks=hooks, train__max_epochs=2, **VISUALIZATION), cls=Drawing)
    trainer.train()
    tags = ["named/a.png", *(f"listed/image_{i}" for i in range(4))]
    assert images(tmp_path / "work" / "tensorboard_output") == {tag: [(4, 5, 4), (7, 5, 4)] for tag in tags}
    assert trainer.visualization_buffer.output == {}


def test_images_of_one_evaluation_are_not_kept_for_the_next(tmp_path):
    trainer = build(tmp_path, settings(**VISUALIZATION), cls=Drawing)
    trainer.visualization_buffer.output["old"] = []
    trainer.evaluate()
    assert sorted(trainer.visualization_buffer.output) == ["listed", "named"]


def test_visualization_that_nobody_defines_is_warned_about(tmp_path):
    build(tmp_path, settings(**VISUALIZATION)).evaluate()
    assert any("evaluation.visualization has no effect" in line for line in messages(tmp_path / "work"))
