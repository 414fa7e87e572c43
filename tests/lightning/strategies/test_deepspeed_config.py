from __future__ import annotations

import json

import pytest

from adapter.errors import ConfigError
from adapter.lightning.strategies import deepspeed_config as settings
from adapter.plan import Component

FACTS = settings.Facts(
    {
        "train_micro_batch_size_per_gpu": (4, "train.dataloader.batch_size_per_gpu"),
        "gradient_accumulation_steps": (3, "cumulative_iters"),
        "train_batch_size": (24, "the product"),
        "gradient_clipping": (0.5, "max_norm"),
    },
    Component("AdamW", {"lr": 0.01, "betas": [0.9, 0.95]}),
    has_schedule=False,
)


def settled(given, stage=None, facts=FACTS):
    return settings.settled(given, stage, facts, "config")


@pytest.mark.parametrize(
    ("given", "stage", "expected"),
    [
        ({}, None, {"zero_optimization": {"stage": 2}, "gradient_accumulation_steps": 3, "train_batch_size": 24}),
        ({}, 0, {"zero_optimization": {"stage": 0}}),
        ({"zero_optimization": {"stage": "auto"}}, 3, {"zero_optimization": {"stage": 3}}),
        ({"zero_optimization": {"stage": 1, "reduce_bucket_size": "auto"}}, None, {"zero_optimization": {"stage": 1}}),
        ({"train_micro_batch_size_per_gpu": "auto"}, 1, {"train_micro_batch_size_per_gpu": 4}),
        ({"gradient_clipping": 0.5}, 1, {"gradient_clipping": 0.5}),
        (
            {"scheduler": {"type": "WarmupLR", "params": {"warmup_max_lr": "auto", "warmup_num_steps": "auto"}}},
            1,
            {"scheduler": {"type": "WarmupLR", "params": {"warmup_max_lr": 0.01, "warmup_num_steps": "auto"}}},
        ),
    ],
)
def test_what_is_left_out_or_auto_comes_from_the_run(given, stage, expected):
    config, problems = settled(given, stage)
    assert problems == []
    assert {name: config[name] for name in expected} == expected


@pytest.mark.parametrize(
    "section",
    [
        {"type": "AdamW", "params": {"lr": "auto", "betas": [0.9, 0.95], "weight_decay": 0.01, "eps": 1e-8}},
        {"type": "Adam", "params": {"lr": 0.01}},  # decays weights as AdamW does
        {"type": "auto"},
    ],
)
def test_the_optimizer_is_the_run_s_and_deepspeed_s_section_agrees(section):
    config, problems = settled({"optimizer": section})
    assert problems == []
    assert "optimizer" not in config


def test_everything_that_differs_is_named_at_once():
    given = {
        "train_batch_size": 16,
        "gradient_accumulation_steps": 2,
        "gradient_clipping": 1.0,
        "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}},
        "optimizer": {"type": "AdamW", "params": {"lr": 0.1, "weight_decay": 0}},
        "scheduler": {"type": "WarmupLR"},
        "wall_clock_breakdown": "auto",
    }
    facts = settings.Facts(FACTS.values, FACTS.optimizer, has_schedule=True)
    _, problems = settled(given, 2, facts)
    assert [problem.key for problem in problems] == [
        "config.zero_optimization.stage",
        "config.gradient_accumulation_steps",
        "config.train_batch_size",
        "config.gradient_clipping",
        "config.optimizer.params.lr",
        "config.optimizer.params.weight_decay",
        "config.scheduler",
        "config.zero_optimization.offload_optimizer",
        "config.wall_clock_breakdown",
    ]
    assert "found 2, but cumulative_iters is 3" in str(problems[1])


@pytest.mark.parametrize(
    ("section", "own"),
    [
        ({"type": "SGD"}, Component("AdamW", {"lr": 0.01})),
        ({"type": "Adam"}, Component("Adam", {"lr": 0.01, "weight_decay": 0.1})),
        ({"type": "Adam", "params": {"adam_w_mode": False}}, Component("AdamW", {"lr": 0.01})),
    ],
)
def test_another_optimizer_is_refused(section, own):
    _, problems = settled({"optimizer": section}, facts=settings.Facts({}, own, False))
    assert [problem.key for problem in problems] == ["config.optimizer.type"]


@pytest.mark.parametrize(("given", "stage"), [({}, 4), ({"zero_optimization": {"stage": 4}}, None), ({}, True)])
def test_there_are_four_stages(given, stage):
    _, problems = settled(given, stage)
    assert [problem.allowed for problem in problems] == ["0, 1, 2, 3"]


def test_the_length_of_the_run_is_filled_in_later():
    params = {"warmup_num_steps": "auto", "total_num_steps": "auto", "warmup_min_lr": 0}
    config = {"scheduler": {"type": "WarmupDecayLR", "params": params}}
    assert settings.asks_for_steps(config)
    settings.fill_steps(config, 0, 12)
    assert params == {"warmup_num_steps": 1, "total_num_steps": 12, "warmup_min_lr": 0}


@pytest.mark.parametrize(
    ("config", "asked", "expected"),
    [
        ({}, "32-true", "32-true"),
        ({}, "bf16-true", "bf16-true"),
        ({"bf16": {"enabled": True}}, "32-true", "bf16-mixed"),
        ({"fp16": {"enabled": True}}, "32-true", "16-mixed"),
        ({"fp16": {"enabled": "auto"}}, "16-mixed", "16-mixed"),
        ({"bf16": {"enabled": True}, "fp16": {"enabled": False}}, "bf16-true", "bf16-true"),
        ({"bf16": {"enabled": True}}, "16-mixed", None),
        ({"fp16": {"enabled": False}}, "16-mixed", None),
        ({"fp16": {"enabled": True}, "bf16": {"enabled": True}}, "32-true", None),
    ],
)
def test_precision(config, asked, expected):
    if expected is None:
        with pytest.raises(ConfigError, match=f"enabled: found (True|False), but the run's precision is {asked}"):
            settings.precision_of(config, asked, "config")
    else:
        assert settings.precision_of(config, asked, "config") == expected


@pytest.mark.parametrize(
    ("precision", "expected"),
    [("bf16-mixed", {"bf16": {"enabled": True}}), ("16-true", {"fp16": {"enabled": True}}), ("32-true", {})],
)
def test_one_section_says_the_precision(precision, expected):
    config = {"fp16": {"enabled": "auto", "loss_scale": "auto"}}
    settings.set_precision(config, precision)
    assert config == expected


@pytest.mark.parametrize(("text", "said"), [("{", "is not JSON"), ("[]", "holds no JSON object"), (None, "no file")])
def test_a_file_that_cannot_be_read_is_named(tmp_path, text, said):
    path = tmp_path / "ds.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        settings.read_config(str(path), "config")


def test_a_file_or_a_mapping(tmp_path):
    given = {"zero_optimization": {"stage": 1}}
    (tmp_path / "ds.json").write_text(json.dumps(given))
    assert settings.read_config(str(tmp_path / "ds.json"), "config") == settings.read_config(given, "config") == given
    assert settings.read_config(None, "config") == {}
