from __future__ import annotations

import logging
import os
import sys
import warnings

import lightning as L
import pytest

from adapter.lightning import arguments, engine, profiler
from adapter.lightning.hook_callback import HookCallback
from adapter.lightning.progress import ProgressBar
from adapter.lightning.quiet import quiet
from tests.runs import Recorder, make, run, weights_of


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (None, {}),
        ("cpu", {"accelerator": "cpu", "devices": 1}),
        ("cpu:0", {"accelerator": "cpu", "devices": 1}),
        ("gpu", {"accelerator": "gpu", "devices": 1}),
        ("cuda", {"accelerator": "gpu", "devices": 1}),
        ("cuda:1", {"accelerator": "gpu", "devices": [1]}),
        ("gpu:2", {"accelerator": "gpu", "devices": [2]}),
        ("mps", {"accelerator": "mps", "devices": 1}),
    ],
)
def test_device_arguments(device, expected):
    assert arguments.device_arguments(device) == expected


def test_what_hooks_do_is_off_in_lightning(tmp_path):
    trainer = engine.build_trainer(make(tmp_path, epochs=7))
    assert trainer.logger is None
    assert trainer.checkpoint_callback is None
    assert trainer.num_sanity_val_steps == 0
    assert [type(callback) for callback in trainer.callbacks] == [HookCallback]
    assert trainer.max_epochs == 7


class Mine(L.Callback):
    pass


@pytest.mark.parametrize(
    ("arguments", "attribute", "value"),
    [
        ({"max_epochs": 5}, "max_epochs", 5),
        ({"precision": "64-true"}, "precision", "64-true"),
        ({"limit_val_batches": 1}, "limit_val_batches", 1),
        ({"deterministic": True}, "world_size", 1),
    ],
)
def test_the_user_s_own_arguments_win(tmp_path, arguments, attribute, value):
    trainer = engine.build_trainer(make(tmp_path, trainer_args=arguments))
    assert getattr(trainer, attribute) == value


@pytest.mark.parametrize("given", [Mine(), [Mine()], (Mine(), Mine())])
def test_the_user_s_own_callbacks_are_added(tmp_path, given):
    trainer = engine.build_trainer(make(tmp_path, trainer_args={"callbacks": given}))
    count = len(given) if isinstance(given, (list, tuple)) else 1
    assert [type(callback) for callback in trainer.callbacks] == [HookCallback, *[Mine] * count]


def test_progress_bar_when_stderr_is_a_terminal(tmp_path, monkeypatch):
    _, terminal = os.openpty()
    with os.fdopen(terminal, "w") as screen:
        monkeypatch.setattr(sys, "stderr", screen)
        trainer = engine.build_trainer(make(tmp_path))
    assert [type(callback) for callback in trainer.callbacks] == [HookCallback, ProgressBar]


def test_iterations_per_epoch_are_limits(tmp_path):
    trainer = engine.build_trainer(make(tmp_path, train_iters_per_epoch=2, val_iters_per_epoch=1))
    assert (trainer.limit_train_batches, trainer.limit_val_batches) == (2, 1)


def test_train_again_goes_on(tmp_path):
    epochs = Recorder("before_train_epoch", lambda trainer: (trainer.epoch, trainer.iter))
    trainer = make(tmp_path, epochs=1, callbacks=[epochs])
    trainer.train()
    trainer.trainer_args["max_epochs"] = 3
    trainer.train()
    assert epochs.seen == [(0, 0), (1, 3), (2, 6)]


def test_going_on_equals_one_run(tmp_path):
    once = run(tmp_path / "once", epochs=3)
    twice = run(tmp_path / "twice", epochs=1)
    twice.trainer_args["max_epochs"] = 3
    twice.train()
    assert weights_of(twice) == weights_of(once)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), SystemExit(3), RuntimeError("as asked")])
def test_what_a_hook_raises_is_what_the_caller_gets(tmp_path, error):
    def fail(trainer):
        raise error

    after = Recorder("after_run", lambda trainer: "after_run")
    trainer = make(tmp_path, callbacks=[Recorder("after_train_iter", fail), after])
    with pytest.raises(type(error)) as caught:
        trainer.train()
    assert getattr(caught.value, "code", None) == getattr(error, "code", None)
    assert after.seen == []


def test_an_evaluation_within_an_epoch_leaves_the_gradients(tmp_path):
    gradients = []

    def note(trainer):
        gradients.append(trainer.model.head.weight.grad.clone())

    fixed = {"type": "StepLR", "step_size": 1, "options": {"lr_strategy": "no"}}
    train = {"optimizer": {"type": "SGD", "lr": 0.1, "options": {"cumulative_iters": 9}}, "lr_scheduler": fixed}
    around = [Recorder("before_val", note), Recorder("after_val", note)]
    run(tmp_path, [{"type": "EvaluationHook", "by_epoch": False}], epochs=1, train=train, callbacks=around)
    assert len(gradients) == 6
    assert all((before == after).all() for before, after in zip(gradients[::2], gradients[1::2], strict=True))


def test_an_evaluation_that_fails_leaves_lightning_in_training(tmp_path):
    stages = []

    def fail(trainer):
        raise RuntimeError("as asked")

    def evaluate(trainer):
        with pytest.raises(RuntimeError, match="as asked"):
            trainer.evaluate()
        stages.append((trainer.module.trainer.training, trainer.module.trainer.validating))

    callbacks = [Recorder("before_val_iter", fail), Recorder("after_train_iter", evaluate)]
    run(tmp_path, epochs=1, samples=4, callbacks=callbacks)
    assert stages == [(True, False)]


def test_quiet_ends():
    logger = logging.getLogger("lightning.pytorch")
    before = logger.level
    logger.setLevel(logging.INFO)
    with quiet():
        assert logger.level == logging.WARNING
        warnings.warn("GPU available but not used. You can set it", stacklevel=1)
    assert logger.level == logging.INFO
    logger.setLevel(before)
    with pytest.warns(UserWarning, match="GPU available"):
        warnings.warn("GPU available but not used. You can set it", stacklevel=1)


def test_the_console_shows_our_lines_only(tmp_path, capfd):
    run(tmp_path, [{"type": "EvaluationHook"}, {"type": "TextLoggerHook", "interval": 1}])
    out, err = capfd.readouterr()
    assert out == ""
    assert not [word for word in ("lightning", "Lightning", "GPU", "TPU", "Warning", "Trainer.fit") if word in err]
    assert err.count(" - adapter - INFO - ") > 8


def test_silent_profiler():
    with profiler.SilentProfiler().profile("anything") as nothing:
        assert nothing is None
