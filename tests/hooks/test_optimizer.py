from __future__ import annotations

import pytest
import torch
from torch import nn

from adapter.hooks.optimizer import NoneOptimizerHook, OptimizerHook
from tests.runs import Net, Points, Recorder, make, run, weights_of


class TwoLosses(Net):
    """Adds ``other``, a second loss of the same graph."""

    def forward(self, x, label):
        outputs = super().forward(x, label)
        return {**outputs, "other_loss": outputs["logits"].square().mean()}


def by_hand(model, epochs, samples, accumulate=1, max_norm=None, keys=("loss",)):
    """Weights after a plain loop with SGD at 0.1, halved after each epoch, and the number of updates."""
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    loader = torch.utils.data.DataLoader(Points(samples), batch_size=4)
    count = updates = 0
    for epoch in range(epochs):
        optimizer.param_groups[0]["lr"] = 0.1 * 0.5**epoch
        for batch in loader:
            outputs = model(**batch)
            for key in keys:
                (outputs[key] / accumulate).backward(retain_graph=True)
            count += 1
            if count % accumulate == 0:
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                optimizer.zero_grad()
                updates += 1
    return [value for tensor in model.state_dict().values() for value in tensor.flatten().tolist()], updates


@pytest.mark.parametrize(
    ("options", "hand", "updates"),
    [
        ({}, {}, 14),
        ({"cumulative_iters": 3}, {"accumulate": 3}, 4),  # the count goes on across the end of the epoch
        ({"grad_clip": {"max_norm": 0.05}}, {"max_norm": 0.05}, 14),
        ({"cumulative_iters": 2, "grad_clip": {"max_norm": 0.05}}, {"accumulate": 2, "max_norm": 0.05}, 7),
        ({"loss_keys": ["loss", "other_loss"]}, {"keys": ("loss", "other_loss")}, 14),
        ({"loss_keys": "other_loss"}, {"keys": ("other_loss",)}, 14),
        (
            {"loss_keys": ["other_loss", "loss"], "cumulative_iters": 2},
            {"keys": ("other_loss", "loss"), "accumulate": 2},
            7,
        ),
    ],
)
def test_equals_a_plain_loop(tmp_path, options, hand, updates):
    want, made = by_hand(TwoLosses(), 2, 28, **hand)
    assert made == updates
    train = {"optimizer": {"type": "SGD", "lr": 0.1, "options": options}}
    trainer = run(tmp_path, samples=28, model=TwoLosses(), train=train)
    assert weights_of(trainer) == want


def test_gradients_are_kept_while_accumulating(tmp_path):
    kept = Recorder("after_train_iter", lambda trainer: trainer.model.head.weight.grad is not None)
    train = {"optimizer": {"type": "SGD", "lr": 0.1, "options": {"cumulative_iters": 2}}}
    run(tmp_path, samples=20, epochs=1, callbacks=[kept], train=train)
    assert kept.seen == [True, False, True, False, True]


def test_the_log_holds_the_undivided_loss(tmp_path):
    full = Recorder("after_train_iter", lambda trainer: trainer.train_outputs["loss"].item(), "HIGH")
    divided = Recorder("after_train_iter", lambda trainer: trainer.train_outputs["loss"].item())
    train = {"optimizer": {"type": "SGD", "lr": 0.1, "options": {"cumulative_iters": 3}}}
    trainer = run(tmp_path, epochs=1, callbacks=[full, divided], train=train)
    assert trainer.log_buffer.val_history["loss"] == full.seen
    assert divided.seen == pytest.approx([each / 3 for each in full.seen])


def test_leftover_gradients_are_zeroed_before_a_run(tmp_path):
    def backward(trainer):
        trainer.model(**{key: value[None] for key, value in Points(1)[0].items()})["loss"].backward()

    trainer = run(tmp_path, epochs=1, callbacks=[Recorder("before_run", backward, "HIGHEST")])
    assert weights_of(trainer) == by_hand(Net(), 1, 12)[0]


@pytest.mark.parametrize("hook", [{"type": "NoneOptimizerHook"}, {"type": "NoneOptimizerHook", "cumulative_iters": 2}])
def test_none_leaves_the_steps_to_the_user(tmp_path, hook):
    fixed = {"type": "StepLR", "step_size": 1, "options": {"lr_strategy": "no"}}
    trainer = make(tmp_path / "nobody", train={"optimizer_hook": hook, "lr_scheduler": fixed})
    before = weights_of(trainer)
    trainer.train()
    assert weights_of(trainer) == before
    assert trainer.get_hook(OptimizerHook) == []
    assert trainer.cumulative_iters == hook.get("cumulative_iters", 1)

    def step(trainer):
        trainer.backward(trainer.train_outputs["loss"])
        trainer.optimizer_step()

    user = Recorder("after_train_iter", step, "ABOVE_NORMAL")
    trainer = run(tmp_path / "user", train={"optimizer_hook": hook}, callbacks=[user])
    assert len(trainer.get_hook(NoneOptimizerHook)) == 1
    assert weights_of(trainer) == by_hand(Net(), 2, 12)[0]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda loss: loss.item(), "it is a float, not a tensor"),
        (lambda loss: loss.expand(3), r"it has 3 values of shape \(3,\); return their mean"),
        (lambda loss: loss.detach(), "it does not depend on any parameter that is trained"),
    ],
)
def test_a_loss_that_cannot_be_trained_on_is_explained(tmp_path, change, told):
    def spoil(trainer):
        trainer.train_outputs["loss"] = change(trainer.train_outputs["loss"])

    with pytest.raises(TypeError, match=f"the model's 'loss' cannot be trained on: {told}"):
        run(tmp_path, callbacks=[Recorder("after_train_iter", spoil, "VERY_HIGH")])


@pytest.mark.parametrize(
    ("keys", "missing"), [("losss", "losss"), (["loss", "other_loss"], "other_loss"), (["aux", "loss"], "aux")]
)
def test_a_loss_that_the_model_does_not_return_is_named(tmp_path, keys, missing):
    optimizer = {"type": "SGD", "lr": 0.1, "options": {"loss_keys": keys}}
    with pytest.raises(KeyError, match=f"the model's output has no '{missing}' to train on; it has: logits, loss"):
        run(tmp_path, train={"optimizer": optimizer})
