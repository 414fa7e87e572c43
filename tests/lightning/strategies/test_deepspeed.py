from __future__ import annotations

import json
import sys

import pytest

from adapter.config import Config
from adapter.errors import ConfigError
from adapter.lightning.strategies.choice import choose_strategy
from adapter.lightning.strategies.deepspeed import DeepSpeed
from adapter.plan import make_plan
from tests.runs import make

ADAM = {"type": "AdamW", "lr": 0.01}


def config(optimizer=ADAM, train=None, **hook):
    return {"train": {"optimizer": optimizer, "hooks": [{"type": "DeepspeedHook", **hook}], **(train or {})}}


@pytest.mark.parametrize(
    ("given", "asked", "stage"),
    [
        (config(), None, 2),
        (config(zero_stage=0), None, 0),
        (config(config={"zero_optimization": {"stage": 3}}), None, 3),
        ({"train": {"optimizer": ADAM}}, "deepspeed", 2),
        ({"train": {"optimizer": ADAM}}, "deepspeed_stage_3", 3),
    ],
)
def test_the_hook_or_lightning_s_name_chooses_it(given, asked, stage):
    strategy = choose_strategy(make_plan(Config(given)), asked, 2)
    assert type(strategy) is DeepSpeed
    assert strategy.config(2)[0]["zero_optimization"]["stage"] == stage
    assert strategy.shards_model is (stage == 3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (config(zero_stage=4), r"train.hooks\[0\].zero_stage: found 4; allowed: 0, 1, 2, 3"),
        (config(config="nowhere.json"), r"train.hooks\[0\].config: no file 'nowhere.json'"),
        (config(train={"optimizer_hook": {"type": "NoneOptimizerHook"}}), "train.optimizer_hook: NoneOptimizerHook"),
        (
            config({**ADAM, "options": {"grad_clip": {"max_norm": 1.0, "norm_type": "inf"}}}),
            "grad_clip.norm_type: found inf, but DeepSpeed clips by the norm of order 2",
        ),
        (
            config(config={"train_batch_size": 3, "gradient_clipping": 1.0}),
            "2 problems\n.*train_batch_size.*\n.*\n.*gradient_clipping",
        ),
        (
            config(config={"fp16": {"enabled": True}, "bf16": {"enabled": True}}),
            "fp16.enabled: found True, but the run's precision is 32-true",
        ),
    ],
)
def test_what_cannot_be_is_refused(given, said):
    with pytest.raises(ConfigError, match=said):
        choose_strategy(make_plan(Config(given)), None, 2)


def test_deepspeed_must_be_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "deepspeed", None)
    with pytest.raises(ConfigError, match=r"DeepSpeed is not installed\n.*fix: pip install deepspeed"):
        choose_strategy(make_plan(Config(config())), None, 2)


def test_nothing_is_written_for_a_run_that_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="zero_stage: found 4"):
        make(tmp_path / "work", [{"type": "DeepspeedHook", "zero_stage": 4}])
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("section", "precision", "said"),
    [
        (
            {"bf16": {"enabled": False}},
            "bf16-mixed",
            "bf16.enabled: found False, but the run's precision is bf16-mixed",
        ),
        ({}, "16-mixed", "trainer.precision: found 16-mixed, which DeepSpeed does not run on CPUs"),
        ({"fp16": {"enabled": True}}, None, r"\]\.config\.fp16: found 16-mixed, which DeepSpeed does not run on CPUs"),
    ],
)
def test_a_precision_that_cannot_be_is_refused(section, precision, said, tmp_path):
    hook = {"type": "DeepspeedHook", "config": section}
    with pytest.raises(ConfigError, match=said):
        make(tmp_path, [hook], trainer_args={"precision": precision} if precision else {})


def test_a_file_beside_the_config(tmp_path):
    (tmp_path / "ds.json").write_text(json.dumps({"zero_optimization": {"stage": 1}}))
    (tmp_path / "config.json").write_text(json.dumps(config(config="ds.json")))
    plan = make_plan(Config.from_file(str(tmp_path / "config.json")))
    assert choose_strategy(plan, None, 2).config(2)[0]["zero_optimization"]["stage"] == 1
