"""``adapter predict`` against the model itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from adapter import MODELS
from adapter.cli.main import main
from tests.cli.conftest import CONFIG, write


@pytest.fixture
def run(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["fit", str(config), "train.max_epochs=1", "--work-dir", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    return tmp_path / "run"


@pytest.mark.parametrize("order", ["evaluation.dataloader.shuffle=true", "evaluation.dataloader.batch_size_per_gpu=5"])
def test_one_line_a_sample_in_the_order_of_the_data(order: str, run: Path, config: Path, tmp_path: Path, capsys):
    out = tmp_path / "folder" / "out.jsonl"
    words = ["predict", str(config), order, "--ckpt", str(run / "epoch_1.pth"), "--out", str(out)]
    assert main([*words, "--work-dir", str(run)]) == 0
    assert capsys.readouterr().out == f"12 samples in {out}\n"
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [list(row) for row in rows] == [["logits"]] * 12
    settings = {name: value for name, value in CONFIG["model"].items() if name != "type"}
    model = MODELS.resolve(CONFIG["model"]["type"])(**settings)
    model.load_state_dict(torch.load(run / "epoch_1.pth", weights_only=True))
    samples = torch.tensor([[i % 5, i % 3, i % 2, 1] for i in range(12)], dtype=torch.float32)
    assert torch.allclose(torch.tensor([row["logits"] for row in rows]), model(samples)["logits"])


@pytest.mark.parametrize(
    ("changes", "words", "status", "text"),
    [
        ({"dataset.val": None, "evaluation.period": None}, [], 2, "dataset.val: there is no data set to predict"),
        ({}, ["--ckpt", "gone.pth"], 2, "no checkpoint at 'gone.pth'"),
        ({}, ["--out", "."], 2, "--out: '.' is a folder"),
    ],
)
def test_refuses(changes, words, status, text, run: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    config = write(tmp_path, changes)
    usual = ["predict", str(config), "--ckpt", str(run / "epoch_1"), "--out", "out.jsonl", "--work-dir", str(run)]
    assert main([*usual, *words]) == status
    assert text in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()
