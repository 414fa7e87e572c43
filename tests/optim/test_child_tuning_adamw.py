"""ChildTuningAdamW against the numbers of ModelScope 1.40.2's optimizer of that name."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from adapter.optim.child_tuning_adamw import ChildTuningAdamW
from tests.runs import Net, Recorder, iterations, make, weights_of

# Settings, whether there is a mask, and both biases after four steps.
RECORDED: list[tuple[dict[str, Any], bool, list[float]]] = [
    (
        {"mode": "ChildTuning-F"},
        False,
        [0.22782135009765625, -0.06559828668832779, -0.23402611911296844, -0.15789218246936798, -0.08397296071052551],
    ),
    (
        {"mode": "ChildTuning-F", "reserve_p": 0.3, "weight_decay": 0.1},
        False,
        [0.12134700268507004, -0.005535883828997612, -0.035730741918087006, -0.24056050181388855, 0.004296273458749056],
    ),
    (
        {"mode": "ChildTuning-D", "reserve_p": 0.3},
        True,
        [0.18261408805847168, -0.06607506424188614, -0.03645437955856323, -0.15347036719322205, -0.07185070961713791],
    ),
    (
        {"mode": "ChildTuning-D", "weight_decay": 0.1, "betas": (0.8, 0.9), "eps": 0.001, "correct_bias": False},
        True,
        [0.17898909747600555, -0.07045646756887436, -0.035730741918087006, -0.17711766064167023, -0.06465785205364227],
    ),
    (
        {"mode": None, "weight_decay": 0.1},
        False,
        [0.2245808094739914, -0.0634281188249588, -0.23092156648635864, -0.15358392894268036, -0.08152209967374802],
    ),
]


def network() -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))


def mask_of(model: nn.Module) -> dict[nn.Parameter, torch.Tensor]:
    """Every other entry of the parameters, less the last one."""
    return {p: (torch.arange(p.numel()).reshape(p.shape) % 2).to(p) for p in list(model.parameters())[:-1]}


def steps(model: nn.Module, optimizer: ChildTuningAdamW, count: int) -> list[list[float]]:
    """Parameters after each step, flat."""
    inputs = torch.randn(5, 4, generator=torch.Generator().manual_seed(9))
    seen = []
    for _ in range(count):
        optimizer.zero_grad()
        model(inputs).square().sum().backward()
        optimizer.step()
        seen.append([value for parameter in model.parameters() for value in parameter.detach().flatten().tolist()])
    return seen


@pytest.mark.parametrize(("settings", "masked", "want"), RECORDED)
def test_numbers(settings, masked, want):
    model = network()
    optimizer = ChildTuningAdamW(model.parameters(), lr=0.05, **settings)
    if masked:
        optimizer.set_gradient_mask(mask_of(model))
    torch.manual_seed(9)
    inputs = torch.randn(5, 4)
    for _ in range(4):
        optimizer.zero_grad()
        model(inputs).square().sum().backward()
        optimizer.step()
    assert [*model[0].bias.tolist(), *model[2].bias.tolist()] == want


@pytest.mark.parametrize("settings", [{"mode": "ChildTuning-F", "reserve_p": 0.3}, {"mode": "ChildTuning-D"}])
def test_going_on_from_its_state_is_exact(settings):
    model = network()
    optimizer = ChildTuningAdamW(model.parameters(), lr=0.05, **settings)
    optimizer.set_gradient_mask(mask_of(model))
    steps(model, optimizer, 2)
    state = copy.deepcopy((model.state_dict(), optimizer.state_dict(), torch.get_rng_state()))
    want = steps(model, optimizer, 3)

    again = network()
    other = ChildTuningAdamW(again.parameters(), lr=0.7, **settings)
    again.load_state_dict(state[0])
    other.load_state_dict(state[1])
    torch.set_rng_state(state[2])
    assert steps(again, other, 3) == want


def test_a_resumed_mask_stays_until_the_next_step():
    model = network()
    optimizer = ChildTuningAdamW(model.parameters(), mode="ChildTuning-D")
    optimizer.set_gradient_mask(mask_of(model))
    optimizer.load_state_dict(optimizer.state_dict())
    with pytest.warns(UserWarning, match="keeps the gradient mask of the run that is resumed"):
        optimizer.set_gradient_mask({})
    assert len(optimizer.gradient_mask) == 3
    steps(model, optimizer, 1)
    optimizer.set_gradient_mask({})
    assert optimizer.gradient_mask == {}


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"mode": "ChildTuning"}, "mode 'ChildTuning' is none of None, ChildTuning-F, ChildTuning-D"),
        ({"reserve_p": 0.0}, "reserve_p"),
        ({"lr": -1.0}, "lr -1.0"),
        ({"betas": (0.9, 1.0)}, "betas"),
        ({"betas": (0.9,)}, "must be two numbers"),
    ],
)
def test_values_out_of_range_are_refused(settings, text):
    with pytest.raises(ValueError, match=text):
        ChildTuningAdamW(network().parameters(), **settings)


def test_the_driven_mode_needs_a_mask():
    model = network()
    with pytest.raises(RuntimeError, match="needs optimizer"):
        steps(model, ChildTuningAdamW(model.parameters(), mode="ChildTuning-D"), 1)


def test_a_run_with_a_mask_computed_when_training_begins_resumes_exactly(tmp_path: Path) -> None:
    def compute(trainer):
        mask = {p: (p > p.mean()).to(p) for p in trainer.model.parameters()}  # another one for other weights
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trainer.optimizer.set_gradient_mask(mask)

    def play(folder: str, checkpoint: str | None = None) -> list[float]:
        trainer = make(
            tmp_path / folder,
            [{"type": "CheckpointHook", "by_epoch": False, "interval": 2}],
            train={"optimizer": {"type": "ChildTuningAdamW", "lr": 0.1, "mode": "ChildTuning-D"}},
            model=Net(),
            callbacks=[Recorder("before_run", compute), done := iterations()],
        )
        trainer.train(checkpoint)
        assert done.seen[0] == (2 if checkpoint else 0)
        return weights_of(trainer)

    whole = play("whole")
    assert play("again", str(tmp_path / "whole" / "iter_2")) == whole
