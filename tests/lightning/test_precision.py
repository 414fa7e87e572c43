"""Loss scaling, really run: on a CPU it is slow, but the numbers are those of the format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from adapter.lightning.precision import FixedScaler, loss_scaler
from tests.runs import Net, Points, Recorder, make, run, weights_of

MIXED = {"precision": "16-mixed"}
SGD = {"type": "SGD", "lr": 0.1}


class Overflowing(Net):
    """The third forward pass of training gives an infinite gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.passes = 0

    def forward(self, x, label):
        outputs = super().forward(x, label)
        self.passes += self.training
        return {**outputs, "loss": outputs["loss"] * (1e38 if self.passes == 3 and self.training else 1)}


def by_hand(accumulate: int = 1, max_norm: float | None = None, optimizer: Any = torch.optim.SGD, **scaler: Any):
    """Weights after two epochs of a plain loop with autocast and GradScaler; scale at the end."""
    model = Net()
    stepper, scaler = optimizer(model.parameters(), lr=0.1), torch.amp.GradScaler("cpu", **scaler)
    loader = torch.utils.data.DataLoader(Points(12), batch_size=4)
    for i, batch in enumerate([*loader, *loader]):
        with torch.autocast("cpu", torch.float16):
            loss = model(**batch)["loss"]
        scaler.scale(loss / accumulate).backward()
        if (i + 1) % accumulate == 0:
            scaler.unscale_(stepper)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            scaler.step(stepper)
            scaler.update()
            stepper.zero_grad()
    return [value for tensor in model.state_dict().values() for value in tensor.flatten().tolist()], scaler.get_scale()


@pytest.mark.parametrize(
    ("optimizer", "options", "loss_scale", "hand"),
    [
        (SGD, {}, {}, {}),
        (SGD, {"grad_clip": {"max_norm": 0.1}}, {"init_scale": 64.0}, {"max_norm": 0.1, "init_scale": 64.0}),
        (
            SGD,
            {"cumulative_iters": 2, "grad_clip": {"max_norm": 0.1}},
            {"init_scale": 8.0, "growth_interval": 2},
            {"accumulate": 2, "max_norm": 0.1, "init_scale": 8.0, "growth_interval": 2},
        ),
        (
            {"type": "AdamW", "lr": 0.1, "fused": True},
            {"grad_clip": {"max_norm": 0.1}},
            {"init_scale": 64.0},
            {"max_norm": 0.1, "init_scale": 64.0, "optimizer": torch.optim.AdamW},
        ),
    ],
)
def test_equals_a_plain_loop(optimizer, options, loss_scale, hand, tmp_path: Path) -> None:
    train = {
        "optimizer": {**optimizer, "options": options},
        "lr_scheduler": {"type": "ConstantLR", "factor": 1.0},
        "optimizer_hook": {"type": "TorchAMPOptimizerHook", "loss_scale": loss_scale},
    }
    trainer = run(tmp_path, train=train, trainer_args=MIXED)
    weights, scale = by_hand(**hand)
    assert weights_of(trainer) == pytest.approx(weights, rel=1e-6 if "fused" in optimizer else 0)
    assert trainer.module.loss_scale_state()["scale"] == scale


def test_a_step_with_infinite_gradients_is_skipped_and_the_scale_halved(tmp_path: Path) -> None:
    seen = Recorder("after_train_iter", lambda trainer: (weights_of(trainer), trainer.module.scaler.get_scale()))
    trainer = make(tmp_path, model=Overflowing(), use_fp16=True, trainer_args=MIXED, callbacks=[seen])
    trainer.train()
    weights, scales = zip(*seen.seen, strict=True)
    assert scales == (65536.0, 65536.0, 32768.0, 32768.0, 32768.0, 32768.0)
    assert [weights[i] == weights[i + 1] for i in range(5)] == [False, True, False, False, False]
    assert trainer.optimizer.param_groups[0]["lr"] == 0.025  # the schedule went on


def test_hooks_around_the_update_work_in_full_precision(tmp_path: Path) -> None:
    product = Recorder("after_train_iter", lambda trainer: (torch.ones(2, 2) @ torch.ones(2, 2)).dtype, "HIGH")
    logits = Recorder("after_train_iter", lambda trainer: trainer.train_outputs["logits"].dtype, "HIGH")
    run(tmp_path, trainer_args=MIXED, callbacks=[product, logits])
    assert set(product.seen) == {torch.float32}
    assert set(logits.seen) == {torch.float16}


@pytest.mark.parametrize(
    ("loss_scale", "scales"),
    [(128.0, [128.0] * 6), ({"init_scale": 128.0, "growth_interval": 2}, [128.0, 256.0, 256.0, 512.0, 512.0, 1024.0])],
)
def test_a_resumed_run_goes_on_with_its_scale(loss_scale, scales, tmp_path: Path) -> None:
    def play(folder: str, checkpoint: str | None = None):
        note = Recorder(
            "after_train_iter", lambda t: (float(t.train_outputs["loss"].detach()), t.module.scaler.get_scale())
        )
        hook = {"type": "TorchAMPOptimizerHook", "loss_scale": loss_scale}
        saver = {"type": "CheckpointHook", "by_epoch": False, "interval": 2}
        trainer = make(tmp_path / folder, [saver], train={"optimizer_hook": hook}, trainer_args=MIXED, callbacks=[note])
        trainer.train(checkpoint)
        return note.seen, weights_of(trainer)

    rows, weights = play("whole")
    assert [scale for _, scale in rows] == scales
    for done in (2, 4):
        assert play(f"from_{done}", str(tmp_path / "whole" / f"iter_{done}")) == (rows[done:], weights)


@pytest.mark.parametrize(
    ("precision", "dtype"),
    [
        ("32", torch.float32),
        ("16-mixed", torch.float32),
        ("bf16-mixed", torch.float32),
        ("16-true", torch.float16),
        ("bf16-true", torch.bfloat16),
        ("64-true", torch.float64),
    ],
)
def test_every_precision_trains_and_clips_the_true_gradients(precision: str, dtype: torch.dtype, tmp_path: Path):
    def norm(trainer):
        return float(torch.stack([p.grad.float().norm() for p in trainer.model.parameters()]).norm())

    class Step:
        """Notes the norm that an optimizer's step finds."""

        seen: list[float] = []

    optimizer = {"type": "SGD", "lr": 0.1, "options": {"grad_clip": {"max_norm": 0.01}}}
    trainer = make(tmp_path, train={"optimizer": optimizer}, trainer_args={"precision": precision})
    watch = Recorder("before_run", lambda t: t.optimizer.register_step_pre_hook(lambda *_: Step.seen.append(norm(t))))
    trainer.register_hook(watch)
    Step.seen.clear()
    trainer.train()
    assert Step.seen == pytest.approx([0.01] * 6, rel=2e-2)
    assert {parameter.dtype for parameter in trainer.model.parameters()} == {dtype}


def test_scalers() -> None:
    assert loss_scaler({"init_scale": 4.0}, "cpu").get_scale() == 4.0
    fixed = loss_scaler(4, "cpu")
    assert isinstance(fixed, FixedScaler)
    assert fixed.get_scale() == 4.0
