"""MegatronHook's arguments."""

from __future__ import annotations

import pytest

from adapter import ConfigError
from adapter.hooks.megatron import MegatronHook


def test_arguments():
    hook = MegatronHook(tensor_model_parallel_size=2, tensor_parallel_plan={"up": "colwise"})
    assert (hook.tensor_model_parallel_size, hook.tensor_parallel_plan) == (2, {"up": "colwise"})


def test_a_pipeline_is_refused_with_what_to_use_instead():
    with pytest.raises(ConfigError, match="pipeline_model_parallel_size: found 2") as refused:
        MegatronHook(pipeline_model_parallel_size=2)
    assert "FSDPHook or DeepspeedHook" in refused.value.problems[0].fix
