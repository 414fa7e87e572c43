"""MegatronHook's arguments."""

from __future__ import annotations

from adapter.hooks.megatron import MegatronHook


def test_arguments():
    hook = MegatronHook(tensor_model_parallel_size=2, tensor_parallel_plan={"up": "colwise"})
    assert (hook.tensor_model_parallel_size, hook.tensor_parallel_plan) == (2, {"up": "colwise"})
