from __future__ import annotations

import re

import pytest

from adapter.hooks.text_logger import TextLoggerHook
from tests.runs import Recorder, json_lines, make, messages, run

TIMING = ("iter_time", "data_load_time")
EVALUATION = {"type": "EvaluationHook"}


def logged(folder, settings, hooks=({"type": "IterTimerHook"}, EVALUATION), **keywords):
    run(folder, [{"type": "TextLoggerHook", **settings}, *hooks], **keywords)
    return [{name: value for name, value in line.items() if name not in TIMING} for line in json_lines(folder)]


def where(lines):
    return [(line["mode"], line["epoch"], line["iter"]) for line in lines]


@pytest.mark.parametrize(
    ("settings", "places"),
    [
        ({"interval": 2}, [("train", 1, 2), ("eval", 1, 2), ("train", 2, 2), ("eval", 2, 2)]),
        (
            {"interval": 2, "by_epoch": False},
            [("train", 1, 2), ("eval", 1, 2), ("train", 2, 4), ("train", 2, 6), ("eval", 2, 2)],
        ),
        ({"interval": 9}, [("eval", 1, 2), ("eval", 2, 2)]),
    ],
)
def test_places(tmp_path, settings, places):
    assert where(logged(tmp_path, settings)) == places


def test_keys_and_their_order(tmp_path):
    run(tmp_path, [{"type": "TextLoggerHook", "interval": 2}, {"type": "IterTimerHook"}, EVALUATION])
    assert [list(line) for line in json_lines(tmp_path)[:2]] == [
        ["mode", "epoch", "iter", "lr", "data_load_time", "loss", "iter_time"],
        ["mode", "epoch", "iter", "lr", "evaluation/accuracy"],
    ]


LOSS = 1.2345678901234567


@pytest.mark.parametrize(
    ("settings", "lr", "loss"),
    [
        ({}, 0.123456789, 1.23457),
        ({"rounding_digits": 2}, 0.123456789, 1.23),
        ({"ignore_rounding_keys": "loss"}, 0.12346, LOSS),
        ({"ignore_rounding_keys": ["loss", "lr"]}, 0.123456789, LOSS),
        ({"ignore_rounding_keys": None}, 0.12346, 1.23457),
    ],
)
def test_rounding(settings, lr, loss):
    hook = TextLoggerHook(**settings)
    assert hook.rounded("lr", 0.123456789) == lr
    assert hook.rounded("loss", [LOSS, 3]) == [loss, 3]


def test_rounded_values_are_written(tmp_path):
    train = {"optimizer": {"type": "SGD", "lr": 0.12345}}
    first = logged(tmp_path, {"interval": 1, "rounding_digits": 1}, train=train)[0]
    assert first["lr"] == 0.12345
    assert first["loss"] == round(first["loss"], 1)


NUMBER = r"\d+\.\d{4}"
TIMES = r"eta: \d+:\d\d:\d\d, iter_time: \d+\.\d{3}, data_load_time: \d+\.\d{3}, "


@pytest.mark.parametrize(
    ("settings", "timer", "lines"),
    [
        (
            {"interval": 3},
            True,
            [
                rf"epoch \[1\]\[3/3\]\tlr: 1\.000e-01, {TIMES}loss: {NUMBER}",
                rf"epoch\(eval\) \[1\]\[2\]\tevaluation/accuracy: {NUMBER}",
                rf"epoch \[2\]\[3/3\]\tlr: 5\.000e-02, {TIMES}loss: {NUMBER}",
                rf"epoch\(eval\) \[2\]\[2\]\tevaluation/accuracy: {NUMBER}",
            ],
        ),
        (
            {"interval": 3, "by_epoch": False},
            False,
            [
                rf"iter \[3/6\]\tlr: 1\.000e-01, loss: {NUMBER}",
                rf"iter\(eval\) \[2\]\tevaluation/accuracy: {NUMBER}",
                rf"iter \[6/6\]\tlr: 5\.000e-02, loss: {NUMBER}",
                rf"iter\(eval\) \[2\]\tevaluation/accuracy: {NUMBER}",
            ],
        ),
        ({"interval": 9}, False, [rf"epoch\(eval\) \[{n}\]\[2\]\tevaluation/accuracy: {NUMBER}" for n in (1, 2)]),
    ],
)
def test_text(tmp_path, settings, timer, lines):
    logged(tmp_path, settings, [{"type": "IterTimerHook"}, EVALUATION] if timer else [EVALUATION])
    found = [line for line in messages(tmp_path) if re.match(r"(epoch|iter) ?[(\[]", line)]
    assert len(found) == len(lines)
    assert [line for line, want in zip(found, lines, strict=True) if not re.fullmatch(want, line)] == []


def test_eta_is_the_mean_time_of_an_iteration_times_those_left(tmp_path):
    hook = TextLoggerHook(interval=2)

    def three_seconds(trainer):
        trainer.log_buffer.update({"iter_time": 3.0, "data_load_time": 0.0})

    trainer = make(tmp_path, epochs=2, samples=40, callbacks=[hook, Recorder("after_train_iter", three_seconds, "LOW")])
    trainer.train()
    etas = [re.search(r"eta: ([\d:]+)", line).group(1) for line in messages(tmp_path) if line.startswith("epoch [")]
    assert etas == [f"0:00:{3 * left:02d}" for left in range(18, -1, -2)]


def test_out_dir(tmp_path):
    elsewhere = tmp_path / "elsewhere" / "logs"
    run(tmp_path / "work", [{"type": "TextLoggerHook", "interval": 1, "out_dir": str(elsewhere)}])
    # the work_dir keyword wins over the config's out_dir; the argument of a hook object stays
    assert len(json_lines(tmp_path / "work")) == 6
    run(tmp_path / "other", callbacks=[TextLoggerHook(interval=1, out_dir=str(elsewhere))])
    assert len(json_lines(elsewhere)) == 6


def test_a_failing_run_keeps_its_lines(tmp_path):
    def fail(trainer):
        if trainer.iter == 4:
            raise RuntimeError("as asked")

    hooks = [{"type": "TextLoggerHook", "interval": 1}]
    trainer = make(tmp_path, hooks, callbacks=[Recorder("before_train_iter", fail)])
    with pytest.raises(RuntimeError, match="as asked"):
        trainer.train()
    assert where(json_lines(tmp_path)) == [("train", 1, 1), ("train", 1, 2), ("train", 1, 3), ("train", 2, 1)]


def test_the_file_is_closed_when_training_ends(tmp_path):
    trainer = run(tmp_path, [{"type": "TextLoggerHook", "interval": 1}])
    (hook,) = trainer.get_hook(TextLoggerHook)
    assert hook._file is None
