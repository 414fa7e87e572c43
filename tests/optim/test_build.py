import pytest
import torch
from torch import nn

from adapter.errors import ConfigError
from adapter.optim.build import build_optimizer, try_optimizer
from adapter.plan import Component
from adapter.registry import OPTIMIZERS

KEY = "train.optimizer"


@pytest.fixture
def model():
    return nn.ModuleDict({"encoder": nn.Linear(2, 3), "crf": nn.Linear(3, 2)})


def sizes(optimizer):
    return [(group["lr"], [tuple(p.shape) for p in group["params"]]) for group in optimizer.param_groups]


@pytest.mark.parametrize("name", ["AdamW", "torch.optim.AdamW"])
def test_one_group_over_all_parameters_frozen_ones_included(model, name):
    model["encoder"].bias.requires_grad_(False)
    optimizer = build_optimizer(model, Component(name, {"lr": 0.01, "betas": [0.8, 0.95]}, key=KEY))
    assert type(optimizer) is torch.optim.AdamW
    assert sizes(optimizer) == [(0.01, [(3, 2), (3,), (2, 3), (2,)])]
    assert tuple(optimizer.param_groups[0]["betas"]) == (0.8, 0.95)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([{"regex": "crf", "lr": 0.2}], [(0.01, [(3, 2), (3,)]), (0.2, [(2, 3), (2,)])]),
        (
            [{"regex": r"crf\.bias$", "lr": 0.3}, {"regex": "crf", "lr": 0.2}],
            [(0.01, [(3, 2), (3,)]), (0.3, [(2,)]), (0.2, [(2, 3)])],
        ),
        ([{"regex": "."}], [(0.01, [(3, 2), (3,), (2, 3), (2,)])]),
    ],
)
def test_the_first_pattern_found_in_a_name_decides_the_group(model, groups, expected):
    args = {"lr": 0.01, "param_groups": groups}
    assert sizes(build_optimizer(model, Component("SGD", args, key=KEY))) == expected
    assert args == {"lr": 0.01, "param_groups": groups}


def test_a_group_has_its_own_weight_decay(model):
    groups = [{"regex": "bias", "weight_decay": 0.0}]
    component = Component("AdamW", {"lr": 0.01, "weight_decay": 0.1, "param_groups": groups})
    optimizer = build_optimizer(model, component)
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.1, 0.0]


def test_a_group_keeps_what_a_schedule_may_read(model):
    groups = [{"regex": "bias", "lr_scale": 0.5, "initial_lr": 0.2}]
    optimizer = build_optimizer(model, Component("SGD", {"lr": 0.01, "param_groups": groups}))
    assert [(group.get("lr_scale"), group.get("initial_lr")) for group in optimizer.param_groups] == [
        (None, None),
        (0.5, 0.2),
    ]


@pytest.mark.parametrize(
    ("component", "key", "told"),
    [
        (Component("AdamWW", {"lr": 0.1}, key=KEY), f"{KEY}.type", "Did you mean 'AdamW'?"),
        (Component("torch.nn.Linear", {}, key=KEY), f"{KEY}.type", "is no optimizer"),
        (
            Component("SGD", {"lr": 0.1, "momentun": 0.9}, key=KEY),
            f"{KEY}.momentun",
            "Did you mean 'momentum'?",
        ),
        (Component("SGD", {"lr": -1.0}, key=KEY), KEY, "Invalid learning rate"),
        (Component("SGD", {"lr": 0.1, "momentum": "foo"}, key=KEY), KEY, "SGD refuses its arguments: "),
        (Component("Adam", {"lr": 0.1, "betas": 0.9}, key=KEY), KEY, "Adam refuses its arguments: "),
        (Component("SGD", {"lr": 0.1, "params": []}, key=KEY), f"{KEY}.params", "SGD takes no argument 'params'"),
        (Component("LBFGS", {"lr": 1.0}, key=KEY), f"{KEY}.type", "evaluates the model several times a step"),
        (Component("Optimizer", {}, key=KEY), f"{KEY}.type", "unknown optimizer 'Optimizer'"),
        (
            Component("SGD", {"lr": 1, "param_groups": [{"lr": 1}]}),
            "optimizer.param_groups[0]",
            "no valid 'regex'",
        ),
        (
            Component("SGD", {"lr": 1, "param_groups": [{"regex": "("}]}),
            "optimizer.param_groups[0]",
            "no valid 'regex'",
        ),
        (
            Component("SGD", {"lr": 1, "param_groups": [{"regex": "crf"}, {"regex": "crf.bias"}]}),
            "optimizer.param_groups[1].regex",
            "matches no parameter that is left",
        ),
        (
            Component("SGD", {"lr": 1, "param_groups": [{"regex": "crf", "weight_decy": 0.1}]}),
            "optimizer.param_groups[0].weight_decy",
            "Did you mean 'weight_decay'?",
        ),
    ],
)
def test_a_wrong_optimizer_is_refused(model, component, key, told):
    with pytest.raises(ConfigError) as caught:
        build_optimizer(model, component)
    assert [problem.key for problem in caught.value.problems] == [key]
    assert told in str(caught.value)


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS.names() if name != "LBFGS"])
def test_every_optimizer_passes_its_trial(name):
    trial = try_optimizer(Component(name, {"lr": 0.1}, key=KEY))
    assert type(trial).__name__ == name
    assert trial.param_groups[0]["lr"] == 0.1
