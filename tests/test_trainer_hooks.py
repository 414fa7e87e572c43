"""Hooks and callbacks of the user's own: where they come from, and what they may change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lightning as L
import pytest
import torch

from adapter import HOOKS, ConfigError, EpochBasedTrainer, Hook, Priority
from adapter.hooks.early_stop import EarlyStopHook
from adapter.lightning.module import TrainingModule
from tests.small_runs import BATCHES, Stages, at, build, same, settings, weights


class Marked(Hook):
    """A hook of the user's own, found by import path."""

    def __init__(self, by: str = "") -> None:
        self.by = by

    def before_run(self, trainer: Any) -> None:
        trainer.marked = [*getattr(trainer, "marked", []), self.by]


@pytest.fixture
def registered() -> Iterator[str]:
    HOOKS.register_module(module_name="marked-in-a-test", module_cls=Marked)
    yield "marked-in-a-test"
    HOOKS.modules["default"].pop("marked-in-a-test")


def test_hooks_come_from_names_import_paths_callbacks_and_by_hand(registered: str, tmp_path: Path) -> None:
    listed = [{"type": registered, "by": "name"}, {"type": f"{__name__}.Marked", "by": "path"}]
    trainer = build(tmp_path, settings(train__hooks=listed), callbacks=[Marked("callback")])
    trainer.register_hook(Marked("hand"))
    trainer.train()
    assert trainer.marked == ["name", "path", "callback", "hand"]


def test_lightning_callbacks_go_to_lightning(tmp_path: Path) -> None:
    class Counts(L.Callback):
        starts = batches = 0

        def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
            assert isinstance(pl_module, TrainingModule)
            self.starts += 1

        def on_train_batch_end(self, *_: Any) -> None:
            self.batches += 1

    one, other = Counts(), Counts()
    trainer = build(tmp_path, callbacks=[one, Marked("hook")], trainer_args={"callbacks": [other]})
    trainer.train()
    assert [(each.starts, each.batches) for each in (one, other)] == [(1, BATCHES)] * 2
    assert trainer.marked == ["hook"]
    assert "Counts" not in trainer.get_hook_info()


class Means(L.Callback):
    """Lets Lightning average the number of the iteration, in training and in evaluation."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        pl_module.log("training", float(batch_idx), on_step=False, on_epoch=True, batch_size=1)

    def on_validation_batch_end(self, trainer: Any, pl_module: Any, *_: Any) -> None:
        pl_module.log("evaluation", 2.0, batch_size=1)

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        self.values = {name: float(value) for name, value in trainer.callback_metrics.items()}


def test_what_a_lightning_callback_logs_outlives_an_evaluation_within_the_epoch(tmp_path: Path) -> None:
    means = Means()
    build(tmp_path, settings(evaluation__period={"interval": 2, "by_epoch": False}), callbacks=[means]).train()
    assert means.values == {"training": 1.0, "evaluation": 2.0}


def test_a_callback_that_is_neither_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"callbacks\[0\]: found 'IterTimerHook', .* a Hook or a Lightning callback"):
        build(tmp_path, callbacks=["IterTimerHook"])


@pytest.mark.parametrize(
    ("metrics", "followed", "told"),
    [
        ("accuracy", "acuracy", "found 'acuracy', .* gives; allowed: accuracy. Did you mean 'accuracy'"),
        (["loss-metric", "seq-cls-metric"], "macro_f1", "allowed: loss, accuracy, .* Did you mean 'macro-f1'"),
        (["loss-metric", "f1"], "accuracy", "allowed: loss, f1"),
    ],
)
def test_a_metric_that_the_evaluation_cannot_give_is_refused(tmp_path: Path, metrics: Any, followed: str, told: str):
    hooks = [{"type": "IterTimerHook"}, {"type": "EarlyStopHook", "metric_key": followed}]
    config = settings(evaluation__metrics=metrics, evaluation__period={"interval": 1}, train__hooks=hooks)
    with pytest.raises(ConfigError, match=rf"train\.hooks\[1\]\.metric_key: .*{told}"):
        build(tmp_path, config)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("followed", ["accuracy", "micro-f1", "binary-f1"])
def test_what_the_metric_gives_for_some_data_can_be_followed(tmp_path: Path, followed: str) -> None:
    hooks = [{"type": "EarlyStopHook", "metric_key": followed}]
    config = settings(evaluation__metrics="seq-cls-metric", evaluation__period={"interval": 1}, train__hooks=hooks)
    assert build(tmp_path, config).get_hook(EarlyStopHook)[0].metric_key == followed


def test_an_evaluation_of_ones_own_may_give_more_than_the_metrics(tmp_path: Path) -> None:
    class Timed(EpochBasedTrainer):
        def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
            self.metric_values = {**super().evaluate(*args, **kwargs), "speed": 1.0}
            return self.metric_values

    hooks = [{"type": "EarlyStopHook", "metric_key": "speed"}]
    config = settings(evaluation__metrics="accuracy", evaluation__period={"interval": 1}, train__hooks=hooks)
    trainer = build(tmp_path, config, cls=Timed)
    trainer.train()
    assert trainer.metric_values["speed"] == 1.0


def scale_loss(by: float) -> Any:
    def scale(trainer: Any) -> None:
        trainer.train_outputs["loss"] = trainer.train_outputs["loss"] * by

    return scale


def test_a_hook_before_the_optimizer_may_change_the_loss(tmp_path: Path) -> None:
    trainer = build(tmp_path, callbacks=[at("after_train_iter", scale_loss(0.0), Priority.HIGH)])
    before = weights(trainer)
    trainer.train()
    assert same(weights(trainer), before)
    halved = build(tmp_path, callbacks=[at("after_train_iter", scale_loss(0.5), Priority.HIGH)], max_epochs=1)
    halved.train()
    half_rate = build(tmp_path, settings(train__optimizer__lr=0.05))
    half_rate.train()
    assert all(torch.allclose(weights(halved)[k], v, atol=1e-7) for k, v in weights(half_rate).items())


def test_a_hook_after_the_optimizer_sees_new_weights_and_changes_nothing(tmp_path: Path) -> None:
    plain = build(tmp_path)
    before = weights(plain)
    plain.train()
    updated: list[bool] = []
    hooks = [
        at("after_train_iter", lambda t: updated.append(not same(weights(t), before)), Priority.HIGH),
        at("after_train_iter", lambda t: updated.append(not same(weights(t), before)), 41),
        at("after_train_iter", scale_loss(0.0), Priority.NORMAL),
    ]
    trainer = build(tmp_path, callbacks=hooks)
    trainer.train()
    assert updated == [False, True, True, True, True, True]
    assert same(weights(trainer), weights(plain))


@pytest.mark.parametrize("stage", ["before_train_iter", "after_train_iter", "after_train_epoch"])
def test_a_hook_that_stops_the_run_stops_it_after_the_epoch(stage: str, tmp_path: Path) -> None:
    def stop(trainer: Any) -> None:
        if trainer.epoch == 1:
            trainer._stop_training = True

    stages = Stages()
    trainer = build(tmp_path, max_epochs=4, callbacks=[at(stage, stop), stages])
    trainer.train()
    assert (trainer.epoch, trainer.iter) == (2, 2 * BATCHES)
    assert stages.seen[-2:] == ["after_train_epoch", "after_run"]


def test_an_error_in_a_hook_reaches_the_caller(tmp_path: Path) -> None:
    def fail(trainer: Any) -> None:
        raise LookupError("of the user's own")

    stages = Stages()
    trainer = build(tmp_path, callbacks=[at("after_train_iter", fail, Priority.NORMAL), stages])
    with pytest.raises(LookupError, match="of the user's own"):
        trainer.train()
    assert "after_run" not in stages.seen


def test_a_hook_may_step_by_itself(tmp_path: Path) -> None:
    def step(trainer: Any) -> None:
        trainer.train_outputs["loss"].backward()
        trainer.optimizer.step()
        trainer.optimizer.zero_grad()

    config = settings(train__optimizer_hook={"type": "NoneOptimizerHook"})
    plain, own = (
        build(tmp_path),
        build(tmp_path, config, callbacks=[at("after_train_iter", step, Priority.ABOVE_NORMAL)]),
    )
    for trainer in (plain, own):
        trainer.train()
    assert same(weights(own), weights(plain))


def test_hooks_get_the_trainer_when_training_evaluation_or_prediction_begins(tmp_path: Path) -> None:
    modes: list[tuple[str, bool]] = []

    class Processor(Hook):
        def register_processor(self, trainer: Any) -> None:
            modes.append((trainer.mode, trainer.optimizer is not None))

    trainer = build(tmp_path, settings(evaluation__period={"interval": 1}), callbacks=[Processor()])
    trainer.evaluate()
    trainer.train()
    trainer.predict(trainer.eval_dataset, lambda inputs, outputs: None)
    assert modes == [("eval", False), ("train", True), ("eval", True)]
