"""Checkpoints go both ways: ModelScope's go on here as they would have there, ours are read there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.parity.interchange import begin_with, build, weights_of
from tests.parity.test_real_trainer import REAL_PYTHON, ROOT

PAIR = Path(__file__).with_name("pair")  # of epoch 1, and run.json of all three epochs, by modelscope 1.40.2
EPOCH = 10  # iterations
needs_modelscope = pytest.mark.skipif(
    not REAL_PYTHON,
    reason="ADAPTER_REAL_PYTHON names no Python that has modelscope; .ci/run installs one and sets it",
)


def real(*words: str) -> dict[str, Any]:
    """What ModelScope's trainer did with a folder, in a process of its own."""
    done = subprocess.run(
        [REAL_PYTHON, "-m", "tests.parity.interchange", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(Path(words[-1], "run.json").read_text())


def test_a_recorded_pair_goes_on_as_it_would_have(tmp_path: Path) -> None:
    """Between machines the last digits may differ."""
    run = json.loads((PAIR / "run.json").read_text())
    trainer, seen = build("ours", tmp_path)
    trainer.train(str(PAIR / "epoch_1.pth"))
    assert len(seen["steps"]) == 2 * EPOCH
    for step, wanted in zip(seen["steps"], run["steps"][EPOCH:], strict=True):
        assert step == pytest.approx(wanted, rel=1e-5)
    for name, values in weights_of(trainer).items():
        assert values == pytest.approx(run["weights"][name], rel=1e-5, abs=1e-7)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A whole run of ModelScope's trainer: its folder, and what it did."""
    folder = tmp_path_factory.mktemp("real")
    return folder, real("write", str(folder))


@needs_modelscope
@pytest.mark.parametrize("epoch", [1, 2])
def test_a_pair_of_this_machine_goes_on_to_the_last_bit(
    epoch: int, written: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    folder, run = written
    trainer, seen = build("ours", tmp_path)
    trainer.train(str(folder / f"epoch_{epoch}.pth"))
    assert seen["steps"] == run["steps"][epoch * EPOCH :]
    assert weights_of(trainer) == run["weights"]


@needs_modelscope
def test_ours_are_read_there(tmp_path: Path) -> None:
    """Weights to train on, and the output folder to evaluate."""
    build("ours", tmp_path / "ours")[0].train()
    pair = str(tmp_path / "ours" / "epoch_1.pth")
    run = real("read", pair, str(tmp_path / "real"))
    again, seen = build("ours", tmp_path / "again")
    assert begin_with(again, pair) == run["values"]
    assert seen["steps"] == run["steps"]
    assert weights_of(again) == run["weights"]


def test_the_output_folder_loads_without_running_code(tmp_path: Path) -> None:
    trainer, _ = build("ours", tmp_path)
    trainer.train()
    weights = torch.load(tmp_path / "output" / "pytorch_model.bin", weights_only=True)
    assert all(torch.equal(value, weights[name]) for name, value in trainer.model.state_dict().items())
