import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LRScheduler

from adapter.errors import ConfigError
from adapter.plan import Component
from adapter.registry import LR_SCHEDULER
from adapter.schedules.build import build_scheduler, check_scheduler

KEY = "train.lr_scheduler"


@pytest.fixture
def optimizer():
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)


@pytest.mark.parametrize("name", ["CosineAnnealingLR", "torch.optim.lr_scheduler.CosineAnnealingLR"])
def test_a_name_or_an_import_path_gives_torchs_scheduler(optimizer, name):
    scheduler = build_scheduler(optimizer, Component(name, {"T_max": 4}, key=KEY))
    assert type(scheduler) is CosineAnnealingLR
    assert scheduler.T_max == 4
    assert scheduler.optimizer is optimizer


def test_a_registered_function_may_return_a_scheduler(optimizer, monkeypatch):
    monkeypatch.setattr(LR_SCHEDULER, "_modules", {"default": {}})

    @LR_SCHEDULER.register_module(module_name="halving")
    def halving(optimizer):
        return LambdaLR(optimizer, lambda count: 0.5**count)

    assert isinstance(build_scheduler(optimizer, Component("halving")), LRScheduler)


@pytest.mark.parametrize(
    ("component", "key", "told"),
    [
        (Component("StepLr", {"step_size": 1}, key=KEY), f"{KEY}.type", "Did you mean 'StepLR'?"),
        (Component("StepLR", {}, key=KEY), f"{KEY}.step_size", "needs 'step_size'"),
        (Component("StepLR", {"step_size": 1, "gama": 2}, key=KEY), f"{KEY}.gama", "Did you mean 'gamma'?"),
        (Component("LinearLR", {"start_factor": 7}, key=KEY), KEY, "refuses its arguments"),
        (Component("LambdaLR", {"lr_lambda": "x"}, key=KEY), KEY, "refuses its arguments"),
        (Component("torch.nn.Linear", {}, key=KEY), f"{KEY}.type", "is no scheduler"),
        (Component("LinearWarmup", {"warmup_iters": 1}, key=KEY), f"{KEY}.type", "options.warmup"),
        (Component("builtins.dict", {}, key=KEY), f"{KEY}.type", "is no scheduler"),
    ],
)
def test_a_wrong_scheduler_is_refused(optimizer, component, key, told):
    with pytest.raises(ConfigError) as caught:
        build_scheduler(optimizer, component)
    assert caught.value.problems[0].key == key
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("name", "args", "key", "told"),
    [
        ("StepLR", {"step_size": "x"}, "", "StepLR refuses its arguments: unsupported operand type(s) for %"),
        ("StepLR", {"step_size": 0}, "", "modulo by zero"),
        ("StepLR", {"step_size": 1, "last_epoch": 5}, "", "refuses its arguments: param 'initial_lr' is not specified"),
        ("OneCycleLR", {"max_lr": 0.1}, "", "You must define either total_steps OR (epochs AND steps_per_epoch)"),
        ("LambdaLR", {"lr_lambda": "x"}, "", "LambdaLR refuses its arguments: 'str' object is not callable"),
        ("StepLR", {"step_size": 1, "optimizer": "SGD"}, ".optimizer", "StepLR takes no argument 'optimizer'"),
        ("LRScheduler", {}, ".type", "unknown scheduler 'LRScheduler'"),
    ],
)
def test_a_trial_finds_what_only_shows_in_a_step(optimizer, name, args, key, told):
    with pytest.raises(ConfigError) as caught:
        check_scheduler(Component(name, args, key=KEY), optimizer)
    assert [problem.key for problem in caught.value.problems] == [f"{KEY}{key}"]
    assert told in caught.value.problems[0].found
    assert "\n" not in caught.value.problems[0].found


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("StepLR", {"step_size": 2}),
        ("CosineAnnealingLR", {"T_max": 4}),
        ("ReduceLROnPlateau", {"mode": "max"}),
        ("OneCycleLR", {"max_lr": 0.1, "total_steps": 9}),
    ],
)
def test_a_trial_of_what_is_right_passes(optimizer, name, args):
    assert check_scheduler(Component(name, args, key=KEY), optimizer).__name__ == name


def test_without_an_optimizer_names_and_arguments_are_checked():
    assert check_scheduler(Component("StepLR", {"step_size": "x"}, key=KEY)).__name__ == "StepLR"
    with pytest.raises(ConfigError, match="needs 'step_size'"):
        check_scheduler(Component("StepLR", {}, key=KEY))
