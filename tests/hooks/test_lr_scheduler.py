from __future__ import annotations

import pytest

from adapter.hooks.lr_scheduler import LrSchedulerHook, NoneLrSchedulerHook
from tests.runs import Recorder, make, messages, run, scripted

EVALUATION = {"type": "EvaluationHook"}


def rate(trainer):
    return trainer.optimizer.param_groups[0]["lr"]


def rates(folder, scheduler, epochs=2, hooks=(), optimizer_options=None, **keywords):
    """The rate of each iteration's update and the one after the last."""
    used = Recorder("before_train_iter", rate)
    last = Recorder("after_run", rate)
    optimizer = {"type": "SGD", "lr": 0.1, "options": optimizer_options or {}}
    train = {"optimizer": optimizer, "lr_scheduler": scheduler, **keywords.pop("train", {})}
    run(folder, hooks, epochs, train=train, callbacks=[used, last], **keywords)
    return [*used.seen, *last.seen]


def step_lr(options=None, **arguments):
    return {"type": "StepLR", "step_size": 1, "gamma": 0.5, **arguments, "options": options or {}}


LINEAR = {"type": "LinearWarmup", "warmup_iters": 2, "warmup_ratio": 0.5}


@pytest.mark.parametrize(
    ("options", "optimizer_options", "expected"),
    [
        ({}, {}, [0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025]),
        ({"by_epoch": False}, {}, [0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003125, 0.0015625]),
        ({"lr_strategy": "by_step", "by_epoch": True}, {}, [0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003125, 0.0015625]),
        ({"lr_strategy": "no"}, {}, [0.1] * 7),
        # by iteration it starts with the first optimizer step, and then steps in every iteration
        ({"by_epoch": False}, {"cumulative_iters": 3}, [0.1, 0.1, 0.1, 0.05, 0.025, 0.0125, 0.00625]),
        # while the warmup lasts every step starts from the base rate, so one halving is in effect after it
        ({"by_epoch": False, "warmup": LINEAR}, {}, [0.05, 0.0375, 0.05, 0.025, 0.0125, 0.00625, 0.003125]),
        ({"warmup": LINEAR}, {}, [0.05, 0.05, 0.05, 0.0375, 0.0375, 0.0375, 0.05]),
    ],
)
def test_rates(tmp_path, options, optimizer_options, expected):
    assert rates(tmp_path, step_lr(options), optimizer_options=optimizer_options) == pytest.approx(expected, rel=1e-12)


def test_the_rate_goes_into_the_log(tmp_path):
    logged = Recorder("after_train_iter", lambda trainer: trainer.log_buffer.output["lr"])
    run(tmp_path, train={"lr_scheduler": step_lr({"by_epoch": False})}, callbacks=[logged])
    assert logged.seen == [0.05, 0.025, 0.0125, 0.00625, 0.003125, 0.0015625]


def test_the_first_group_s_rate_goes_into_the_log(tmp_path):
    import torch

    trainer = make(tmp_path, epochs=1)
    groups = [{"params": [trainer.model.head.bias], "lr": 0.3}, {"params": [trainer.model.head.weight], "lr": 0.2}]
    trainer.optimizers = (torch.optim.SGD(groups), None)
    logged = Recorder("after_train_iter", lambda trainer: trainer.log_buffer.output["lr"])
    trainer.register_hook(logged)
    trainer.train()
    assert logged.seen == [0.3] * 3


def plateau(values, metrics_by="epoch", period=None, hook=None, epochs=6):
    scheduler = {"type": "ReduceLROnPlateau", "mode": "max", "patience": 0, "factor": 0.1}
    return {
        "scheduler": scheduler,
        "epochs": epochs,
        "hooks": [period or EVALUATION],
        "metrics": scripted(*values, by=metrics_by),
        "samples": 4,
        "train": {"lr_scheduler_hook": {"type": "PlateauLrSchedulerHook", "metric_key": "score", **(hook or {})}},
    }


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (plateau([1, 2, 2, 3, 1, 4]), [0.1, 0.1, 0.1, 0.01, 0.01, 0.001, 0.001]),
        # with an evaluation every second epoch the older value counts as one that did not improve
        (plateau([9, 1, 9, 2, 9, 3], period={**EVALUATION, "interval": 2}), [0.1, 0.1, 0.1, 0.01, 0.01, 0.001, 0.001]),
        (plateau([3, 2, 1, 0, 0, 0], hook={"by_epoch": False}), [0.1] * 7),
        (plateau([3, 2, 1, 0, 0, 0], hook={"lr_strategy": "by_step"}), [0.1] * 7),
        (plateau([3], period={**EVALUATION, "interval": 9}), [0.1] * 7),
    ],
)
def test_plateau(tmp_path, setting, expected):
    assert rates(tmp_path, **setting) == pytest.approx(expected)


def test_plateau_by_iteration_warns(tmp_path):
    rates(tmp_path, **plateau([1, 1], hook={"by_epoch": False}, epochs=1))
    assert [line for line in messages(tmp_path) if "the learning rate never changes" in line]


def test_plateau_refuses_a_metric_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="metric_key 'f1' is not among the evaluation's values: score"):
        rates(tmp_path, **plateau([1], hook={"metric_key": "f1"}))


def test_none_leaves_the_steps_to_the_user(tmp_path):
    train = {"lr_scheduler_hook": {"type": "NoneLrSchedulerHook"}}
    assert rates(tmp_path / "nobody", step_lr(), train=train) == [0.1] * 7
    user = Recorder("after_train_iter", lambda trainer: trainer.lr_scheduler.step(), "VERY_LOW")
    logged = Recorder("after_train_iter", lambda trainer: trainer.log_buffer.output["lr"])
    trainer = run(tmp_path / "user", epochs=1, train=train, callbacks=[user, logged])
    assert logged.seen == [0.1, 0.05, 0.025]
    assert [type(hook) for hook in trainer.hooks if isinstance(hook, LrSchedulerHook)] == [NoneLrSchedulerHook]
