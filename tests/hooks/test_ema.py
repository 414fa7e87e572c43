from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from adapter import ConfigError
from adapter.hooks.ema import EMAHook
from tests.small_runs import Losses, at, build, losses, same, settings, weights

EVALUATION = {"interval": 1}


def ema(**changes: Any) -> dict[str, Any]:
    return settings(train__ema={"decay": 0.8}, **changes)


@pytest.mark.parametrize("options", [{}, {"cumulative_iters": 2}])
def test_it_is_torch_s_average_over_the_steps(options: dict[str, Any], tmp_path: Path) -> None:
    config = ema(train__max_epochs=2, train__optimizer__options=options)
    every = options.get("cumulative_iters", 1)
    trainer = build(tmp_path, config)
    reference = AveragedModel(trainer.model, multi_avg_fn=get_ema_multi_avg_fn(0.8))

    def follow(trainer: Any) -> None:
        if (trainer.iter + 1) % every == 0:
            reference.update_parameters(trainer.model)

    trainer.register_hook(at("after_train_iter", follow))
    trainer.train()
    assert same(weights(trainer), reference.module.state_dict())


def test_training_itself_stays_as_it_is(tmp_path: Path) -> None:
    evaluated = {"train__max_epochs": 2, "evaluation__period": EVALUATION}
    assert losses(tmp_path, ema(**evaluated)) == losses(tmp_path, settings(**evaluated))


def test_evaluations_and_saved_weights_are_the_averages(tmp_path: Path) -> None:
    seen: dict[str, Any] = {}
    look = [
        at("before_val_epoch", lambda trainer: seen.update(evaluated=weights(trainer))),
        at("after_val", lambda trainer: seen.update(after=weights(trainer))),
        at("before_val", lambda trainer: seen.update(before=weights(trainer)), priority=0),
    ]
    config = ema(evaluation__period=EVALUATION, train__optimizer__lr=0.5)
    config["train"]["checkpoint"] = {"best": {"metric_key": "accuracy"}, "period": {"interval": 1}}
    trainer = build(tmp_path, config, callbacks=look)
    trainer.train()
    assert same(seen["before"], seen["after"])
    assert not same(seen["evaluated"], seen["before"])
    best = next((tmp_path / "work").glob("best_*[0-9].pth"))
    for path in (best, tmp_path / "work" / "epoch_1.pth", tmp_path / "work" / "output_best" / "pytorch_model.bin"):
        assert same(torch.load(path, weights_only=True), seen["evaluated"])
    assert same(weights(trainer), seen["evaluated"])
    assert trainer.evaluate() == build(tmp_path, config).evaluate(str(best), strict=True)


@pytest.mark.parametrize(("checkpoint", "left"), [("iter_4.pth", 5), ("iter_3.pth", 6), ("best_*[0-9].pth", 1)])
def test_resume_is_exact(checkpoint: str, left: int, tmp_path: Path) -> None:
    config = ema(train__max_epochs=3, train__dataloader__shuffle=True)
    config["evaluation"]["period"] = {"interval": 4, "by_epoch": False}
    config["train"]["checkpoint"] = {"period": {"interval": 1, "by_epoch": False}, "best": {"metric_key": "accuracy"}}
    whole, rest = Losses(), Losses()
    first = build(tmp_path / "whole", config, callbacks=[whole])
    first.train()
    pair = next((tmp_path / "whole" / "work").glob(checkpoint))
    second = build(tmp_path / "rest", config, callbacks=[rest], seed=7)
    second.train(str(pair))
    assert rest.seen == whole.seen[-left:]
    assert same(weights(second), weights(first))


def test_a_run_without_averages_goes_on_with_them(tmp_path: Path) -> None:
    plain = settings(train__checkpoint={"period": {"interval": 1}})
    build(tmp_path / "first", plain).train()
    trainer = build(tmp_path / "second", ema(train__max_epochs=2))
    trainer.train(str(tmp_path / "first" / "work" / "epoch_1.pth"))
    assert trainer.iter == 6


def test_a_run_that_failed_within_an_evaluation_leaves_nothing_behind(tmp_path: Path) -> None:
    failing = [True]

    def fail(trainer: Any) -> None:
        if failing:
            failing.clear()
            raise RuntimeError("stopped here")

    trainer = build(tmp_path, ema(evaluation__period=EVALUATION), callbacks=[at("before_val_iter", fail)])
    with pytest.raises(RuntimeError, match="stopped here"):
        trainer.train()
    before = len(trainer.optimizer._optimizer_step_post_hooks)
    trainer.train()
    assert (before, len(trainer.optimizer._optimizer_step_post_hooks)) == (1, 0)


def test_a_parameter_that_comes_later_begins_with_its_value() -> None:
    hook, one, two = EMAHook(0.5), torch.zeros(2), torch.ones(2)
    hook.update([one])
    one += 1
    hook.update([one, two])
    averages: list[Tensor] = list(hook.averages.values())
    assert [average.tolist() for average in averages] == [[0.5, 0.5], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"decay": 1.5}, r"train\.ema\.decay: found 1\.5; allowed: a number from 0 to 1"),
        ({"decay": "most"}, r"train\.ema\.decay: found \"most\""),
        ({"decay": -1}, r"train\.ema\.decay: found -1"),
    ],
)
def test_what_cannot_be_is_refused(given: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        build(tmp_path, settings(train__ema=given))
