from __future__ import annotations

import pytest

from adapter.config import Config
from adapter.hooks.build import build_hook
from adapter.hooks.deepspeed import DeepspeedHook
from adapter.plan import make_plan


@pytest.mark.parametrize("name", ["DeepspeedHook", "DeepSpeedHook"])
def test_both_spellings(name):
    hook = build_hook(name, {"zero_stage": 3})
    assert type(hook) is DeepspeedHook
    assert (hook.zero_stage, hook.config, hook.save_zero_checkpoint) == (3, None, True)
    plan = make_plan(Config({"train": {"hooks": [{"type": name, "zero_stage": 1}]}}), {"launcher": "pytorch"})
    assert (plan.strategy, plan.strategy_args) == ("deepspeed", {"zero_stage": 1})
