from __future__ import annotations

import pytest
from lightning.pytorch.strategies import DDPStrategy, SingleDeviceStrategy

from adapter.config import Config
from adapter.errors import ConfigError
from adapter.lightning.strategies.choice import choose_strategy
from adapter.lightning.strategies.ddp import DataParallel
from adapter.lightning.strategies.strategy import RunStrategy
from adapter.plan import make_plan

HOOK = {"train": {"hooks": [{"type": "DDPHook"}]}}


@pytest.mark.parametrize(
    ("config", "asked", "processes", "expected"),
    [
        ({}, None, 1, RunStrategy),
        ({}, None, 2, DataParallel),
        ({}, "auto", 2, DataParallel),
        (HOOK, None, 1, RunStrategy),
        (HOOK, None, 2, DataParallel),
        ({}, "ddp", 2, DataParallel),
        ({}, DDPStrategy(), 2, DataParallel),
        ({}, SingleDeviceStrategy(), 1, RunStrategy),
        ({}, "single_device", 1, RunStrategy),
    ],
)
def test_the_user_s_argument_then_the_config_s_hook_then_the_number_of_processes(config, asked, processes, expected):
    assert type(choose_strategy(make_plan(Config(config)), asked, processes)) is expected


@pytest.mark.parametrize(
    ("config", "asked", "expected"),
    [
        ({}, None, {"find_unused_parameters": True}),
        ({}, "ddp_find_unused_parameters_false", {"find_unused_parameters": False}),
        (
            {"parallel": {"bucket_cap_mb": 1, "static_graph": True}, "train": {"parallel": {"bucket_cap_mb": 2}}},
            "ddp",
            {"find_unused_parameters": True, "bucket_cap_mb": 2, "static_graph": True},
        ),
        ({"parallel": {"type": "DistributedDataParallel", "find_unused_parameters": False}}, None, None),
    ],
)
def test_arguments_of_the_wrapper(config, asked, expected):
    strategy = choose_strategy(make_plan(Config(config)), asked, 2)
    assert strategy.arguments == (expected or {"find_unused_parameters": False})


@pytest.mark.parametrize(
    ("config", "asked", "said"),
    [
        ({}, "ddp_spawn", "trainer.strategy: 'ddp_spawn' copies this process"),
        ({}, "dpp", "trainer.strategy: found 'dpp'; allowed: auto.* Did you mean 'ddp'"),
        ({"parallel": {"bucket_cap": 1}}, None, "parallel.bucket_cap: DistributedDataParallel takes no argument"),
    ],
)
def test_what_cannot_be_is_refused(config, asked, said):
    with pytest.raises(ConfigError, match=said):
        choose_strategy(make_plan(Config(config)), asked, 2)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"tuners": {"type": "lora", "merge": True}}, r"tuners\.merge"),
        ({"efficient_tuners": {"type": "lora", "save_trainable_only": True}}, r"efficient_tuners\.save_trainable_only"),
        (
            {"train": {"checkpoint": {"best": {"save_trainable_only": True}}}},
            r"train\.checkpoint\.best\.save_trainable",
        ),
    ],
)
def test_what_needs_whole_parameters_is_refused_where_they_are_shared(changes, key):
    plan = make_plan(Config(changes))
    choose_strategy(plan, "ddp", 2)
    with pytest.raises(ConfigError, match=rf"{key}\w*: the files of a model that is shared among processes"):
        choose_strategy(plan, "fsdp", 2)
