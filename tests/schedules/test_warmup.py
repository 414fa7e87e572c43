"""recorded_rates.json: rates of modelscope 1.40.2, one an iteration, or one an epoch for those by epoch."""

import json
from pathlib import Path

import pytest
import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau, StepLR

from adapter.errors import ConfigError
from adapter.plan import Component
from adapter.schedules.build import build_scheduler
from adapter.schedules.warmup import build_warmup

RECORDED = json.loads(Path(__file__).with_name("recorded_rates.json").read_text(encoding="utf-8"))
LINEAR = {"type": "LinearWarmup", "warmup_iters": 3}


def optimizer(lr=0.1):
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr, momentum=0.9)


def rate(opt):
    return opt.param_groups[0]["lr"]


def step(opt, warmup):
    opt.step()
    warmup.step()
    return rate(opt)


@pytest.mark.parametrize("case", RECORDED, ids=[case["name"] for case in RECORDED])
def test_rates_equal_the_recorded_ones_bit_for_bit(case):
    opt = optimizer(case["lr"])
    args = dict(case["scheduler"])
    scheduler = build_scheduler(opt, Component(args.pop("type"), args))
    warmup = build_warmup(scheduler, case["warmup"])
    rates = [rate(opt)] if case["by_epoch"] else [rate(opt)] * (case["cumulative_iters"] - 1)
    while len(rates) < len(case["rates"]):
        rates.append(step(opt, warmup))
    assert rates == case["rates"]


def test_the_scheduler_keeps_its_own_state_and_rates_before_scaling():
    opt = optimizer()
    scheduler = StepLR(opt, 1, gamma=0.5)
    plain = StepLR(optimizer(), 1, gamma=0.5).state_dict()
    step(opt, build_warmup(scheduler, LINEAR))
    assert scheduler.state_dict().keys() == plain.keys()
    assert scheduler.get_last_lr() == [0.05]
    assert rate(opt) == pytest.approx(0.05 * 0.4)


@pytest.mark.parametrize("taken", range(6))
def test_a_resumed_warmup_goes_on_where_it_was(taken):
    def run(steps, state=None):
        opt = optimizer()
        scheduler = StepLR(opt, 2, gamma=0.5)
        if state:
            opt.load_state_dict(state[0])
            scheduler.load_state_dict(state[1])
        warmup = build_warmup(scheduler, LINEAR)
        return [step(opt, warmup) for _ in range(steps)], (opt.state_dict(), scheduler.state_dict())

    whole, _ = run(7)
    first, state = run(taken)
    rest, _ = run(7 - taken, state if taken else None)
    assert first + rest == whole


def test_every_parameter_group_starts_from_its_own_rate():
    groups = [{"params": [torch.nn.Parameter(torch.zeros(1))], "lr": lr} for lr in (1.0, 0.1)]
    opt = torch.optim.SGD(groups, lr=0.5)
    step(opt, build_warmup(StepLR(opt, 10), {"type": "ConstantWarmup", "warmup_iters": 5, "warmup_ratio": 0.5}))
    assert [group["lr"] for group in opt.param_groups] == [0.5, 0.05]


@pytest.mark.parametrize(
    ("cfg", "told"),
    [
        ({"type": "LinearWarmUp", "warmup_iters": 3}, "Did you mean 'LinearWarmup'?"),
        ({"type": "StepLR", "warmup_iters": 3}, "'StepLR' is no warmup"),
        ({"warmup_iters": 3}, "unknown scheduler 'None'"),
        ({"type": "LinearWarmup"}, "needs 'warmup_iters'"),
        ({"type": "LinearWarmup", "warmup_iters": 3, "ratio": 0.1}, "takes no argument 'ratio'"),
    ],
)
def test_a_wrong_warmup_is_refused(cfg, told):
    with pytest.raises(ConfigError, match=r"train\.lr_scheduler\.options\.warmup") as caught:
        build_warmup(StepLR(optimizer(), 1), cfg)
    assert told in str(caught.value)


def test_a_schedule_that_follows_a_metric_takes_no_warmup():
    with pytest.raises(ConfigError, match="ReduceLROnPlateau takes no warmup"):
        build_warmup(ReduceLROnPlateau(optimizer()), LINEAR)
