"""Combinations that cannot be are refused before any process is started, and before anything is written."""

from __future__ import annotations

import pytest
from torch.optim import SGD, Adam

from adapter.errors import ConfigError
from adapter.lightning import engine
from tests.runs import Net, make

FSDP, DEEPSPEED, MEGATRON = {"type": "FSDPHook"}, {"type": "DeepspeedHook"}, {"type": "MegatronHook"}
PLAN = {"tensor_parallel_plan": {"head": "colwise"}}


def one(model):
    """An optimizer."""
    return SGD(model.parameters(), lr=0.1)


def two(model):
    """Optimizers by name."""
    return {"g": SGD([model.head.weight], lr=0.1), "d": Adam([model.head.bias], lr=0.1)}


@pytest.mark.parametrize(
    ("hooks", "optimizers", "said"),
    [
        ([DEEPSPEED, FSDP], None, "FSDPHook and DeepspeedHook"),
        ([{"type": "DDPHook"}, FSDP, DEEPSPEED], None, "DeepspeedHook"),
        ([DEEPSPEED, {**MEGATRON, "tensor_model_parallel_size": 2, **PLAN}], None, "MegatronHook"),
        ([FSDP], one, "optimizers: an optimizer made before the model is divided"),
        ([FSDP], two, "optimizers: an optimizer made before the model is divided"),
        ([DEEPSPEED], two, "optimizers: optimizers by name, but DeepSpeed's engine steps one"),
        ([{**DEEPSPEED, "zero_stage": 4}], None, r"train\.hooks\[0\]\.zero_stage: found 4; allowed: 0, 1, 2, 3"),
        (
            [{**MEGATRON, "tensor_model_parallel_size": 4, **PLAN}],
            None,
            r"tensor_model_parallel_size: found 4, and 2 processes.*\n.*fix: start a multiple of 4",
        ),
    ],
)
def test_combinations(hooks, optimizers, said, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "start", lambda *_: pytest.fail("a process was started"))
    model = Net()
    given = (optimizers(model), None) if optimizers else (None, None)
    arguments = {"accelerator": "cpu", "devices": 2}
    with pytest.raises(ConfigError, match=said):
        make(tmp_path / "work", hooks, model=model, optimizers=given, trainer_args=arguments)
    assert not (tmp_path / "work").exists()
