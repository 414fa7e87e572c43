"""Every config that comes with the project runs, and the quickstart learns what it promises."""

from __future__ import annotations

import json
import math
import os
import runpy
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
def test_images_in_files(name: str, tmp_path: Path, digit_images: Path, few: list[str]) -> None:
    assert run_on(digit_images, f"images/{name}.yaml", tmp_path, few)["mode"] == "eval"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that configs/text/make_data.py makes: real words and docstrings, and a pretrained model."""
    folder = tmp_path_factory.mktemp("work_dir") / "text"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["make_data.py", str(folder)])
        runpy.run_path(str(ROOT / "configs" / "text" / "make_data.py"), run_name="__main__")
    return folder


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Settings of a run of a few seconds; what whole runs reach is in the files, and in tests/benchmarks/README.md."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    small = {"train": 8, "evaluation": 16}
    sizes = [f"{section}.dataloader.batch_size_per_gpu={size}" for section, size in small.items()]
    lengths = ["train.max_epochs=1", "train.train_iters_per_epoch=3", "evaluation.val_iters_per_epoch=1"]
    return [*sizes, *lengths, "train.checkpoint.period.save_strategy=no"]


def run_on(data: Path, name: str, folder: Path, settings: list[str]) -> dict[str, float]:
    """Run a config below configs/ with the data that its script made; the last line of its log."""
    path = folder / Path(name).name
    text = (ROOT / "configs" / name).read_text()
    assert text.count(f"../../work_dir/{data.name}") >= 2
    path.write_text(text.replace(f"../../work_dir/{data.name}", str(data)))
    assert main(["fit", str(path), "--work-dir", str(folder / "work"), "--strict", *settings]) == 0
    return log_of(folder / "work")[-1]


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("classification", "accuracy"),
        ("lora", "accuracy"),
        ("regression", "R2Score"),
        ("pairs", "accuracy"),
        ("parameters", "f1"),
        ("generation", "ppl"),
    ],
)
def test_texts(name: str, metric: str, tmp_path: Path, texts: Path, few: list[str]) -> None:
    row = run_on(texts, f"text/{name}.yaml", tmp_path, few)
    assert math.isfinite(row[f"evaluation/{metric}"])


def test_words_are_learned(tmp_path: Path, texts: Path, few: list[str]) -> None:
    """A tenth of what the file does: a pretrained model tells words apart soon."""
    longer = ["train.dataloader.batch_size_per_gpu=32", "train.train_iters_per_epoch=15"]
    longer += ["evaluation.dataloader.batch_size_per_gpu=128"]
    assert run_on(texts, "text/classification.yaml", tmp_path, [*few, *longer])["evaluation/accuracy"] >= 0.7


def test_mnist(tmp_path: Path, few: list[str]) -> None:
    """The config on the images that configs/images/make_images.py makes."""
    script = runpy.run_path(str(ROOT / "configs" / "images" / "make_images.py"))
    script["write_images"](tmp_path / "mnist")
    assert len(list((tmp_path / "mnist").rglob("*.png"))) == 5000
    assert "evaluation/accuracy" in run_on(tmp_path / "mnist", "images/mnist.yaml", tmp_path, few)


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
