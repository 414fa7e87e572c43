"""``adapter validate`` with the checkpoints that ``adapter fit`` leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from adapter.cli.main import main
from tests.cli.conftest import log_of

CHECKPOINTS = ["epoch_1.pth", "epoch_1", "output/pytorch_model.bin"]


@pytest.fixture
def run(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["fit", str(config), "train.max_epochs=1", "--work-dir", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    return tmp_path / "run"


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_prints_the_metrics_of_the_run(name: str, run: Path, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["validate", str(config), "--ckpt", str(run / name), "--work-dir", str(run)]
    logged = next(row for row in log_of(run) if row["mode"] == "eval")
    assert main(words) == 0
    lines = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert float(lines["accuracy"]) == pytest.approx(logged["evaluation/accuracy"], abs=1e-5)
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"accuracy": float(lines["accuracy"])}


def test_names_a_checkpoint_that_is_not_there(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["validate", str(config), "--ckpt", str(tmp_path / "gone.pth"), "--work-dir", str(tmp_path)])
    assert status == 2
    assert "--ckpt: no checkpoint at" in capsys.readouterr().err


FOREIGN = {
    "other names": ({"encoder.weight": torch.ones(2)}, ["encoder.weight", "Missing key"]),
    "other shapes": ({"net.0.weight": torch.ones(2, 2)}, ["net.0.weight"]),
    "no weights": ([1, 2], ["no weights there", "found list"]),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_weights_of_another_model_are_refused_by_name(
    name: str, config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights, texts = FOREIGN[name]
    torch.save(weights, tmp_path / "foreign.pth")
    words = ["validate", str(config), "--ckpt", str(tmp_path / "foreign.pth"), "--work-dir", str(tmp_path / "run")]
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"--ckpt: '{tmp_path / 'foreign.pth'}': " in err
    assert all(text in err for text in texts), err
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "command", [["validate", "--ckpt"], ["predict", "--out", "rows.jsonl", "--ckpt"], ["fit", "--resume"]]
)
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "it was cut short, or is no checkpoint"),
        (b"hello", "it was cut short, or is no checkpoint"),
        ("half", "it was cut short, or is no checkpoint"),
        (None, "no checkpoint at"),
    ],
)
def test_a_damaged_checkpoint_is_refused_before_anything_is_written(
    command: list[str],
    content: bytes | str | None,
    told: str,
    config: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    weights, state = tmp_path / "epoch_1.pth", tmp_path / "epoch_1_trainer_state.pth"
    for path in (weights, state):
        torch.save({"net.0.weight": torch.ones(2, 2)}, path)
    if content is None:
        weights.unlink()
    else:
        weights.write_bytes(weights.read_bytes()[:500] if isinstance(content, str) else content)
    assert main([*command, str(weights), str(config), "--work-dir", str(tmp_path / "run")]) == 2
    err = capsys.readouterr().err
    assert f"{command[-1]}: " in err
    assert told in err
    assert not (tmp_path / "run").exists()
