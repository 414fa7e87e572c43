"""Every config that comes with the project runs, and the quickstart learns what it promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adapter.cli.main import main
from tests.cli.conftest import log_of
from tests.conftest import ROOT, Adapter

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


@pytest.fixture(scope="module")
def digit_images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that configs/run/project.py makes."""
    folder = tmp_path_factory.mktemp("images") / "digit_images"
    script = [sys.executable, str(ROOT / "configs" / "run" / "project.py"), str(folder)]
    subprocess.run(script, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    return folder


@pytest.mark.parametrize("name", ["digits", "easycv"])
def test_images_in_files(name: str, tmp_path: Path, digit_images: Path) -> None:
    """The configs that read images, for a few iterations."""
    path = tmp_path / f"{name}.yaml"
    text = (ROOT / "configs" / "images" / path.name).read_text()
    assert text.count("../../work_dir/digit_images") >= 2
    path.write_text(text.replace("../../work_dir/digit_images", str(digit_images)))
    few = ["train.max_epochs=1", "train.train_iters_per_epoch=4", "evaluation.val_iters_per_epoch=2"]
    assert main(["fit", str(path), "--work-dir", str(tmp_path / "work"), "--strict", *few]) == 0
    assert log_of(tmp_path / "work")[-1]["mode"] == "eval"


@pytest.fixture(scope="module")
def text_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that configs/text/make_models.py makes."""
    folder = tmp_path_factory.mktemp("models")
    script = [sys.executable, str(ROOT / "configs" / "text" / "make_models.py"), str(folder)]
    subprocess.run(script, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize(
    ("name", "metric", "reached"),
    [
        ("classification", "accuracy", 0.9),
        ("pairs", "accuracy", 0.9),
        ("names", "f1", 0.9),
        ("generation", "rouge-1", 0.9),
        ("regression", "loss", 0.25),
    ],
)
def test_texts(name: str, metric: str, reached: float, tmp_path: Path, text_models: Path, dataset_cache: Path) -> None:
    """Each learns what it promises."""
    path = ROOT / "configs" / "text" / f"{name}.yaml"
    model = next(text_models.glob("gpt2" if name == "generation" else "bert"))
    assert main(["fit", str(path), "--work-dir", str(tmp_path / "work"), "--strict", f"model.path={model}"]) == 0
    value = log_of(tmp_path / "work")[-1][f"evaluation/{metric}"]
    assert value <= reached if metric == "loss" else value >= reached


def test_a_run_config_with_images(tmp_path: Path, adapter: Adapter) -> None:
    """Learns what it promises, from images that it makes itself."""
    folder = ROOT / "configs" / "run"
    words = [str(folder / "digits.yaml"), "--import", str(folder / "project.py"), "--strict"]
    done = adapter("fit", *words, "--options", "run.max_epoch=5")
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "output" / "digits").iterdir()
    text = (run / "log.txt").read_text()
    lines = [json.loads(line) for line in text[text.index("\n}\n") + 3 :].splitlines()]
    scores = [line["val_ACC"] for line in lines if "val_ACC" in line]
    assert max(scores) >= 95
    assert lines[-1]["val_best_epoch"] == scores.index(max(scores))
    assert sorted(path.name for path in run.glob("*.pth")) == [
        *(f"checkpoint_{epoch}.pth" for epoch in (0, 2, 4)),
        "checkpoint_best.pth",
    ]
