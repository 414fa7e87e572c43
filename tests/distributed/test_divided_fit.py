"""``adapter fit`` on divided models: by torchrun and by ``--trainer.devices``, killed amid an epoch, resumed."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from adapter.cli.main import main
from adapter.lightning import engine
from tests.cli.conftest import write
from tests.distributed.launches import run, torchrun

KILLER = """
import os, signal
from adapter import HOOKS, Hook

@HOOKS.register_module()
class Killer(Hook):
    def before_train_iter(self, trainer):
        main = trainer.processes.rank == 0  # it has written the pair by now; another may be ahead of it
        if main and trainer.iter == int(os.environ.get("KILL_AT", "-1")):
            os.kill(os.getpid(), signal.SIGKILL)
"""
PLAN = {"hidden.0": "colwise", "head": "rowwise"}
KINDS: dict[str, dict[str, Any]] = {
    "fsdp": {"train.hooks": [{"type": "FSDPHook", "min_params": 20}], "train.dataloader.batch_size_per_gpu": 2},
    "deepspeed": {
        "train.hooks": [{"type": "DeepspeedHook", "zero_stage": 3}],
        "train.dataloader.batch_size_per_gpu": 2,
    },
    "tensor": {
        "train.hooks": [{"type": "MegatronHook"}],
        "megatron": {"tensor_model_parallel_size": 2, "tensor_parallel_plan": PLAN},
    },
    "single": {"train.hooks": []},
}


def prepare(folder: Path, kind: str, **changes: Any) -> Path:
    """A config of a kind, with its data, and the hook that kills beside it; 5 epochs of 3 iterations, 2 accumulated."""
    folder.mkdir(exist_ok=True)
    rows = ["x0,x1,x2,x3,label", *(f"{i % 5},{i % 3},{i % 2},1,{i % 3}" for i in range(12))]
    (folder / "data.csv").write_text("\n".join(rows))
    (folder / "killer.py").write_text(KILLER)
    own: dict[str, Any] = {
        "train.max_epochs": 5,
        "train.work_dir": str(folder / "work"),
        "train.dataloader.shuffle": False,
        "train.optimizer": {"type": "AdamW", "lr": 0.05, "options": {"cumulative_iters": 2}},
        "train.checkpoint": {"period": {"interval": 1, "by_epoch": False, "max_checkpoint_num": 2}},
        **copy.deepcopy(KINDS[kind]),
        **changes,
    }
    return write(folder, own)


def fit(config: Path, *words: str) -> list[str]:
    """Words of ``python -m adapter fit``, less the interpreter."""
    return ["-m", "adapter", "fit", str(config), "--import", str(config.parent / "killer.py"), *words]


def by_itself(config: Path, *words: str) -> list[str]:
    """A command that starts the second process by itself."""
    return [sys.executable, *fit(config, "--trainer.devices=2", "--trainer.accelerator=cpu", *words)]


def by_torchrun(config: Path, *words: str) -> list[str]:
    return torchrun(*fit(config, *words))


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> dict[str, torch.Tensor]:
    """The weights of one process that was never stopped."""
    config = prepare(tmp_path_factory.mktemp("single") / "run", "single")
    assert main(["fit", str(config)]) == 0
    return torch.load(config.parent / "work" / "output" / "pytorch_model.bin", weights_only=True)


@pytest.mark.parametrize(
    ("kind", "begin", "go_on"),
    [
        ("fsdp", by_itself, by_torchrun),
        ("tensor", by_torchrun, by_itself),
        ("deepspeed", by_torchrun, by_itself),
    ],
)
def test_a_killed_run_goes_on_however_it_is_started(kind, begin, go_on, expected, tmp_path):
    config = prepare(tmp_path / "run", kind, **{"train.hooks": [*KINDS[kind]["train.hooks"], {"type": "Killer"}]})
    ((status, text),) = run(begin(config), KILL_AT="8")
    assert status != 0, text
    work = config.parent / "work"
    assert (work / "iter_8_trainer_state.pth").is_file()
    ((status, text),) = run(go_on(config, "--resume"))
    assert status == 0, text
    assert "epoch 3, iteration 8" in text
    weights = torch.load(work / "output" / "pytorch_model.bin", weights_only=True)
    for name, value in expected.items():
        assert torch.allclose(weights[name], value, atol=1e-5), name
    if kind == "fsdp":
        alone_from_shards(config, expected)


def alone_from_shards(config: Path, expected: dict[str, torch.Tensor]) -> None:
    """One process goes on, still under FSDPHook, from what two have left, amid an accumulation."""
    settings = json.loads(config.read_text())
    settings["train"]["dataloader"]["batch_size_per_gpu"] = 4
    settings["train"]["max_epochs"] = 6
    config.write_text(json.dumps(settings))
    words = ("--resume", "--trainer.accelerator=cpu")
    ((status, text),) = run([sys.executable, *fit(config, *words)])
    assert status == 0, text
    assert "iteration 15" in text
    assert (config.parent / "work" / "iter_18.pth").is_file()


@pytest.mark.parametrize(
    ("kind", "changes", "words", "text"),
    [
        ("tensor", {}, ["--trainer.devices=1"], "megatron.tensor_model_parallel_size: found 2, and 1 process"),
        ("tensor", {"megatron.tensor_model_parallel_size": 3}, ["--trainer.devices=2"], "found 3, and 2 processes"),
        ("tensor", {"megatron.pipeline_model_parallel_size": 2}, ["--trainer.devices=2"], "into a pipeline"),
        ("tensor", {"megatron.tensor_parallel_plan": {"hiden.0": "colwise"}}, ["--trainer.devices=2"], "'hidden.0'"),
        ("tensor", {"megatron.tensor_parallel_plan": None}, ["--trainer.devices=2"], "tensor_parallel_plan: not given"),
        ("tensor", {"megatron.tensor_model_parallel_size": "two"}, ["--trainer.devices=2"], "an integer of 1 or more"),
        ("fsdp", {"train.hooks": [{"type": "FSDPHook", "wrap_classes": "Liner"}]}, [], "hooks[0].wrap_classes: the"),
        ("fsdp", {"train.hooks": [{"type": "FSDPHook", "mixed_precision": "bf16"}]}, [], "bfloat16, float16, float32"),
        ("fsdp", {"train.hooks": [{"type": "FSDPHook", "min_params": -1}]}, [], "an integer of 0 or more"),
        ("fsdp", {"train.hooks": [{"type": "FSDPHook"}, {"type": "DeepspeedHook"}]}, [], "DeepspeedHook"),
        ("fsdp", {"train.use_fp16": True}, ["--trainer.devices=2"], "train.use_fp16: 16-mixed"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_before_any_process_starts(
    kind, changes, words, text, tmp_path, capfd, monkeypatch
):
    config = prepare(tmp_path / "run", kind, **changes)
    monkeypatch.setattr(engine, "start", lambda *_: pytest.fail("a process was started"))
    assert main(["fit", str(config), "--trainer.accelerator=cpu", *words]) == 2
    assert text in capfd.readouterr().err
    assert not (config.parent / "work").exists()
