"""Every config that comes with the project runs, and the quickstart learns what it promises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapter.cli.main import main
from tests.cli.conftest import log_of
from tests.conftest import ROOT

CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_runs(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(path), "--work-dir", str(tmp_path), "--strict", "train.max_epochs=1"]) == 0
    assert "epoch [1]" in capsys.readouterr().err


def test_quickstart(tmp_path: Path) -> None:
    config = str(ROOT / "configs" / "quickstart.yaml")
    assert main(["fit", config, "--work-dir", str(tmp_path)]) == 0
    scores = [row["evaluation/accuracy"] for row in log_of(tmp_path) if row["mode"] == "eval"]
    assert max(scores) >= 0.95
    assert list(tmp_path.glob("best_epoch*_accuracy*.pth"))
    for folder in ("output", "output_best"):
        names = {each.name for each in (tmp_path / folder).iterdir()}
        assert names == {"configuration.json", "eval_result.txt", "pytorch_model.bin"}
    best = json.loads((tmp_path / "output_best" / "eval_result.txt").read_text())
    assert best["accuracy"] == pytest.approx(max(scores), abs=1e-5)
