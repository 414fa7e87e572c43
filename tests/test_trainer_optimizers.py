"""Optimizers that hooks of the user's own work with: the Child-Tuning example, and several optimizers at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from adapter import ConfigError, EpochBasedTrainer, Hook
from adapter.optim.child_tuning_adamw import ChildTuningAdamW
from tests.runs import iterations
from tests.small_runs import Losses, at, build, same, settings, weights

BY_HAND = settings(
    train__optimizer_hook={"type": "NoneOptimizerHook"},
    train__hooks=[{"type": "CheckpointHook", "by_epoch": False, "interval": 1}],
    train__logging={"interval": 1},
)
CHILD = settings(train__optimizer={"type": "ChildTuningAdamW", "lr": 0.01, "mode": "ChildTuning-D"})


def calculate_fisher(model: Any, batches: Any, forward_step: Any, reserve_p: float) -> dict[Any, torch.Tensor]:
    """Mask of the entries with the largest mean squared gradients, a fraction ``reserve_p`` of all."""
    fisher = {parameter: torch.zeros_like(parameter) for parameter in model.parameters()}
    for batch in batches:
        forward_step(model, batch).backward()
        for parameter in fisher:
            fisher[parameter] += parameter.grad**2 / len(batches)
        model.zero_grad()
    bound = torch.cat([value.flatten() for value in fisher.values()]).quantile(1 - reserve_p)
    return {parameter: (value >= bound).to(value) for parameter, value in fisher.items()}


class CalculateFisherHook(Hook):
    """Computes the mask of Child-Tuning from the training data when training begins."""

    @staticmethod
    def forward_step(model: Any, inputs: Any) -> torch.Tensor:
        loss: torch.Tensor = model(**inputs)["loss"]
        return loss

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        mask = calculate_fisher(trainer.model, trainer.train_dataloader, self.forward_step, 0.2)
        trainer.optimizer.set_gradient_mask(mask)


def test_child_tuning_by_a_hook(tmp_path: Path) -> None:
    trainer = build(tmp_path, CHILD)
    trainer.register_hook(CalculateFisherHook())
    before = weights(trainer)
    trainer.train()
    assert isinstance(trainer.optimizer, ChildTuningAdamW)
    names = {parameter: name for name, parameter in trainer.model.named_parameters()}
    masks = {names[parameter]: mask.bool() for parameter, mask in trainer.optimizer.gradient_mask.items()}
    after = weights(trainer)
    assert all(torch.equal(after[name] != before[name], masks[name]) for name in masks)
    share = sum(int(mask.sum()) for mask in masks.values()) / sum(mask.numel() for mask in masks.values())
    assert share == pytest.approx(0.2, abs=0.01)


@pytest.mark.filterwarnings("ignore:ChildTuningAdamW keeps the gradient mask")
def test_a_child_tuning_run_resumes_exactly(tmp_path: Path) -> None:
    config = {**CHILD, "train": {**CHILD["train"], "hooks": BY_HAND["train"]["hooks"]}}
    done = iterations()
    whole = build(tmp_path / "whole", config, callbacks=[CalculateFisherHook()])
    on = build(tmp_path / "on", config, callbacks=[CalculateFisherHook(), done])
    whole.train()
    on.train(str(tmp_path / "whole" / "work" / "iter_2"))
    assert same(weights(on), weights(whole))
    assert done.seen == [2]


def two(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An optimizer and a schedule for either layer."""
    optimizers = {
        "g": torch.optim.SGD(model.hidden.parameters(), lr=0.1, momentum=0.9),
        "d": torch.optim.Adam(model.head.parameters(), lr=0.01),
    }
    schedules = {name: torch.optim.lr_scheduler.ExponentialLR(one, 0.5) for name, one in optimizers.items()}
    return optimizers, schedules


class Both(EpochBasedTrainer):
    """Makes two optimizers, and steps each in its turn."""

    def create_optimizer_and_scheduler(self) -> Any:
        return two(self.model)

    def train_step(self, model: Any, inputs: Any) -> None:
        super().train_step(model, inputs)
        self.backward(self.train_outputs["loss"])
        self.optimizer_step(optimizer=self.optimizer["d" if self.iter % 2 else "g"])


def test_a_trainer_with_two_optimizers(tmp_path: Path) -> None:
    note = Losses()
    trainer = build(tmp_path, BY_HAND, cls=Both, callbacks=[note])
    trainer.train()
    model = build(tmp_path / "hand").model
    optimizers, _ = two(model)
    for i, batch in enumerate(trainer.train_dataloader):
        loss = model(**batch)["loss"]
        assert loss.item() == note.seen[i]
        loss.backward()
        optimizers["d" if i % 2 else "g"].step()
        optimizers["d" if i % 2 else "g"].zero_grad()
    assert same(weights(trainer), model.state_dict())
    assert {name: one.param_groups[0]["lr"] for name, one in trainer.optimizer.items()} == {"g": 0.05, "d": 0.005}


def test_two_optimizers_by_a_hook_are_logged_saved_and_resumed(tmp_path: Path) -> None:
    def step(trainer: Any) -> None:
        trainer.train_outputs["loss"].backward()
        for optimizer in trainer.optimizer.values():
            optimizer.step()
            optimizer.zero_grad()

    def play(folder: str, checkpoint: str | None = None) -> EpochBasedTrainer:
        model = build(tmp_path / "model").model
        hook = at("after_train_iter", step, 40)
        trainer = build(tmp_path / folder, BY_HAND, model=model, optimizers=two(model), callbacks=[hook])
        trainer.train(checkpoint)
        return trainer

    whole = play("whole")
    work = tmp_path / "whole" / "work"
    (log,), (text,) = work.glob("*.log.json"), work.glob("*.log")
    assert json.loads(log.read_text().splitlines()[0])["lr"] == {"g": 0.1, "d": 0.01}
    assert "lr_g: 1.000e-01 lr_d: 1.000e-02, eta" in text.read_text()
    state = torch.load(work / "iter_2_trainer_state.pth", weights_only=True)
    assert state["optimizer"].keys() == state["lr_scheduler"].keys() == {"g", "d"}
    on = play("on", str(work / "iter_2"))
    assert same(weights(on), weights(whole))
    assert on.optimizer["d"].state_dict()["param_groups"] == whole.optimizer["d"].state_dict()["param_groups"]
    with pytest.raises(ValueError, match="holds the state of g: SGD, d: Adam, but this run uses SGD"):
        build(tmp_path / "one").train(str(work / "iter_2"))


def test_optimizer_hook_cannot_step_two(tmp_path: Path) -> None:
    model = build(tmp_path).model
    trainer = build(tmp_path, model=model, optimizers=two(model))
    with pytest.raises(ConfigError, match=r"train\.optimizer_hook: there are several optimizers \(g, d\)"):
        trainer.train()
