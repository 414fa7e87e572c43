from __future__ import annotations

import lightning as L
import pytest
import torch

from adapter.lightning.module import TrainingModule, zero_grad
from tests.runs import Net, Recorder, make, run, weights_of


class Onlooker(L.Callback):
    """A Lightning callback of the user's that counts the backward passes and optimizer steps it is told of."""

    def __init__(self):
        self.backwards = self.steps = 0

    def on_before_backward(self, *args):
        self.backwards += 1

    def on_before_optimizer_step(self, *args):
        self.steps += 1


OPTIONS = {"cumulative_iters": 2, "grad_clip": {"max_norm": 0.1}}
TRAIN = {"optimizer": {"type": "SGD", "lr": 0.1, "options": OPTIONS}}


def test_others_take_part_and_the_numbers_stay(tmp_path):
    alone = run(tmp_path / "alone", samples=16, train=TRAIN)
    onlooker = Onlooker()
    watched = run(tmp_path / "watched", samples=16, train=TRAIN, callbacks=[onlooker])
    assert (alone.module.nobody_takes_part, watched.module.nobody_takes_part) == (True, False)
    assert (onlooker.backwards, onlooker.steps) == (8, 4)
    assert weights_of(watched) == weights_of(alone)


@pytest.mark.parametrize("callbacks", [[], [Onlooker()]])
def test_lightning_counts_the_optimizer_steps(tmp_path, callbacks):
    counts = Recorder("after_run", lambda trainer: trainer.module.trainer.global_step)
    run(tmp_path, samples=16, train=TRAIN, callbacks=[counts, *callbacks])
    assert counts.seen == [4]


def test_another_precision(tmp_path):
    dtypes = Recorder("after_train_iter", lambda trainer: trainer.train_outputs["logits"].dtype)
    trainer = run(tmp_path, callbacks=[dtypes], trainer_args={"precision": "bf16-mixed"})
    assert set(dtypes.seen) == {torch.bfloat16}
    assert not trainer.module.nobody_takes_part
    assert not trainer.module.batches_stay


def test_a_batch_is_converted_to_a_true_precision(tmp_path):
    seen = Recorder("before_train_iter", lambda trainer: trainer.data_batch["x"].dtype)
    run(tmp_path, callbacks=[seen], trainer_args={"precision": "64-true"})
    assert set(seen.seen) == {torch.float64}


def test_on_the_cpu_a_batch_stays_the_object_it_is(tmp_path):
    trainer = run(tmp_path, epochs=1)
    batch = {"x": torch.ones(1)}
    assert trainer.module.to_device(batch) is batch


def test_attributes_of_other_kinds_are_registered_as_ever(tmp_path):
    module = make(tmp_path).module
    module._current_fx_name = "training_step"
    assert module.__dict__["_current_fx_name"] == "training_step"
    module.other = torch.nn.Linear(1, 1)
    assert "other.weight" in dict(module.named_parameters())


def test_clips_only_what_has_a_gradient(tmp_path):
    model = Net()
    model.head.bias.requires_grad_(False)
    run(tmp_path, model=model, train=TRAIN)
    assert torch.equal(model.head.bias, Net().head.bias)
    assert not torch.equal(model.head.weight, Net().head.weight)


class Own(torch.optim.SGD):
    """An optimizer with a zero_grad of its own."""

    calls = 0

    def zero_grad(self, set_to_none=True):
        self.calls += 1
        super().zero_grad(set_to_none)


@pytest.mark.parametrize("cls", [torch.optim.SGD, Own])
def test_zero_grad(cls):
    model = Net()
    model.head.weight.sum().backward()
    optimizer = cls(model.parameters(), 0.1)
    zero_grad(optimizer)
    assert [parameter.grad for parameter in model.parameters()] == [None, None]
    assert getattr(optimizer, "calls", 1) == 1


def test_every_parameter_of_the_model_is_lightning_s_too(tmp_path):
    trainer = make(tmp_path)
    assert isinstance(trainer.module, TrainingModule)
    assert {name.removeprefix("model.") for name, _ in trainer.module.named_parameters()} == {
        name for name, _ in trainer.model.named_parameters()
    }
    assert trainer.module.automatic_optimization is False
