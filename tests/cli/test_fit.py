"""``adapter fit`` from a config file to the files it writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from adapter.cli.main import main
from adapter.registry import HOOKS
from tests.cli.conftest import log_of, write
from tests.conftest import ROOT

OWN_HOOK = """
from adapter import HOOKS, Hook

@HOOKS.register_module(module_name="note-taker")
class NoteTaker(Hook):
    def after_run(self, trainer):
        with open(f"{trainer.work_dir}/note", "w") as file:
            file.write(str(trainer.iter))
"""


def test_trains_and_writes_everything(config: Path, tmp_path: Path) -> None:
    assert main(["fit", str(config), "--work-dir", str(tmp_path / "run")]) == 0
    rows = log_of(tmp_path / "run")
    assert [(row["mode"], row["epoch"], row["iter"]) for row in rows] == [
        *(("train", 1, i) for i in (1, 2, 3)),
        ("eval", 1, 3),
        *(("train", 2, i) for i in (1, 2, 3)),
        ("eval", 2, 3),
    ]
    assert {"epoch_2.pth", "epoch_2_trainer_state.pth", "output"} <= set(os.listdir(tmp_path / "run"))


def test_overrides_in_any_place(config: Path, tmp_path: Path) -> None:
    words = ["train.max_epochs=1", "--work-dir", str(tmp_path / "run"), "train.optimizer.lr=5e-1"]
    assert main(["fit", words[0], *words[1:3], str(config), words[3]]) == 2  # CONFIG comes first
    assert main(["fit", str(config), *words]) == 0
    rows = log_of(tmp_path / "run")
    assert {row["epoch"] for row in rows} == {1}
    assert rows[0]["lr"] == 0.5


@pytest.mark.parametrize("words", [["--trainer.max_epochs=1"], ["--trainer.max_epochs", "1", "train.max_epochs=3"]])
def test_trainer_arguments_win(words: list[str], config: Path, tmp_path: Path) -> None:
    assert main(["fit", str(config), "--work-dir", str(tmp_path / "run"), *words]) == 0
    assert {row["epoch"] for row in log_of(tmp_path / "run")} == {1}


def test_the_seed_decides(config: Path, tmp_path: Path) -> None:
    losses = []
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        assert main(["fit", str(config), "--seed", seed, "--work-dir", str(tmp_path / name)]) == 0
        losses.append([row["loss"] for row in log_of(tmp_path / name) if row["mode"] == "train"])
    assert losses[0] == losses[1] != losses[2]


def test_imports_the_users_own_hook(tmp_path: Path, config: Path) -> None:
    (tmp_path / "note_taking.py").write_text(OWN_HOOK)
    config = write(tmp_path, {"train.hooks": [{"type": "note-taker"}]})
    words = [
        "fit",
        str(config),
        "--import",
        str(tmp_path / "note_taking.py"),
        "--work-dir",
        str(tmp_path / "run"),
    ]
    try:
        assert main(words) == 0
    finally:
        HOOKS.modules["default"].pop("note-taker", None)
    assert (tmp_path / "run" / "note").read_text() == "6"


@pytest.mark.parametrize(
    ("changes", "texts"),
    [
        ({"train.max_epochs": "three"}, ["train.max_epochs", '"three"', "integer"]),
        ({"train.max_epochs": 0}, ["train.max_epochs", "0"]),
        ({"train.max_epochs": None}, ["train.max_epochs: not given"]),
        ({"train.optimizer.type": "AdamV"}, ["train.optimizer.type", "'AdamV'", "'Adam"]),
        ({"train.optimizer.lrr": 1}, ["train.optimizer.lrr", "'lr'"]),
        ({"train.lr_scheduler.type": "StepLr"}, ["train.lr_scheduler.type", "'StepLr'", "'StepLR'"]),
        (
            {"train.hooks": [{"type": "EarlyStopHok"}]},
            ["train.hooks[0].type", "'EarlyStopHook'"],
        ),
        ({"evaluation.metrics": ["acuracy"]}, ["evaluation.metrics", "'acuracy'", "'accuracy'"]),
        ({"model.type": "mlp-clasifier"}, ["model.type", "'mlp-clasifier'", "'mlp-classifier'"]),
        ({"dataset.train.type": "cvs"}, ["dataset.train.type", "'cvs'", "'csv'"]),
        ({"dataset.train.file": "absent.csv"}, ["dataset.train.file", "absent.csv"]),
        ({"train.lr_scheduler": {"type": "ReduceLROnPlateau"}}, ["PlateauLrSchedulerHook", "metric_key"]),
        (
            {"train.checkpoint": {"best": {"metric_key": "accuracy"}}, "evaluation.period": None},
            ["train.checkpoint.best", "BestCkptSaverHook follows evaluations", '"period"'],
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_refuses(
    changes: dict[str, Any],
    texts: list[str],
    config: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = write(tmp_path, changes)
    before = sorted(tmp_path.rglob("*"))
    assert main(["fit", str(config), "--work-dir", str(tmp_path / "run")]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"{config}: 1 problem\n")
    assert all(text in err for text in texts), err
    assert "Traceback" not in err
    assert sorted(tmp_path.rglob("*")) == before


def test_reports_every_problem_at_once(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write(
        tmp_path, {"train.max_epochs": "three", "train.optimizer.type": "AdamV", "evaluation.metrics": ["x"]}
    )
    assert main(["fit", str(config)]) == 2
    assert capsys.readouterr().err.startswith(f"{config}: 3 problems\n")


@pytest.mark.parametrize(("key", "value"), [("plugins", ["json"]), ("allow_remote", True)])
def test_code_of_others_needs_trust(
    key: str, value: Any, config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write(tmp_path, {key: value})
    assert main(["fit", str(config), "--work-dir", str(tmp_path / "run")]) == 2
    err = capsys.readouterr().err
    assert "the config asks to run code from elsewhere" in err
    assert "--trust-remote-code" in err
    assert not (tmp_path / "run").exists()
    assert main(["fit", str(config), "--work-dir", str(tmp_path / "run"), "--trust-remote-code"]) == 0


@pytest.mark.parametrize("seed", ["-1", "4294967296"])
def test_a_seed_out_of_range_is_refused(
    seed: str, config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(config), "--seed", seed, "--work-dir", str(tmp_path / "run")]) == 2
    assert f"seed: found {seed}; allowed: an integer from 0 to 4294967295" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_work_dir_that_is_a_file_is_refused(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run").write_text("mine")
    assert main(["fit", str(config), "--work-dir", str(tmp_path / "run")]) == 2
    assert "is not a folder" in capsys.readouterr().err
    assert (tmp_path / "run").read_text() == "mine"


def test_weights_alone_are_nothing_to_go_on_from(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fit", str(config), "--work-dir", str(tmp_path / "run")]
    assert main([*words, "train.max_epochs=1"]) == 0
    (tmp_path / "run" / "epoch_1_trainer_state.pth").unlink()
    capsys.readouterr()
    assert main([*words, "--resume", str(tmp_path / "run" / "epoch_1.pth")]) == 2
    assert "--resume: " in (err := capsys.readouterr().err)
    assert "has no trainer state beside it" in err


@pytest.mark.parametrize(
    "words",
    [
        ["--resume"],
        ["--resume", "last"],
        ["--resume=last"],
        ["--resume", "train.max_epochs=2"],
        ["--resume", "epoch_1"],
    ],
    ids=" ".join,
)
def test_goes_on_from_the_newest_pair_or_the_one_named(words: list[str], config: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert main(["fit", str(config), "--work-dir", str(run), "train.max_epochs=1"]) == 0
    for log in run.glob("*.log*"):
        log.unlink()
    words = [str(run / word) if word == "epoch_1" else word for word in words]
    assert main(["fit", str(config), "--work-dir", str(run), *words]) == 0
    assert [row["epoch"] for row in log_of(run)] == [2, 2, 2, 2]


@pytest.mark.parametrize("name", ["epoch_1.pth", "output/pytorch_model.bin", None])
def test_weights_only_begins_a_new_run(name: str | None, config: Path, tmp_path: Path) -> None:
    words = ["fit", str(config), "train.max_epochs=1", "train.optimizer.lr=0.0"]
    assert main(["fit", str(config), "train.max_epochs=1", "--work-dir", str(tmp_path / "a")]) == 0
    checkpoint = ["--resume", str(tmp_path / "a" / name)] if name else ["--resume"]
    folder = tmp_path / ("b" if name else "a")
    if not name:
        for log in folder.glob("*.log*"):
            log.unlink()
    want = torch.load(tmp_path / "a" / "epoch_1.pth", weights_only=True)
    assert main([*words, "--work-dir", str(folder), *checkpoint, "--weights-only"]) == 0
    assert {row["epoch"] for row in log_of(folder)} == {1}
    got = torch.load(folder / "epoch_1.pth", weights_only=True)
    assert all(torch.equal(want[key], got[key]) for key in want)


def test_weights_only_needs_a_checkpoint(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(config), "--weights-only"]) == 2
    assert "--weights-only: no checkpoint is given" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--trainer.gradient_clip_val=1.0"], ["--trainer.val_check_interval", "5"]])
def test_what_hooks_decide_is_not_lightnings(
    words: list[str], config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(config), "--work-dir", str(tmp_path / "run"), *words]) == 2
    key = words[0].removeprefix("--").partition("=")[0]
    assert f"{key}: is not Lightning's to decide here" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_ctrl_c_is_status_130(config: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "adapter", "fit", str(config), "train.max_epochs=1000000"]
    process = subprocess.Popen(
        words,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    for line in process.stderr:
        if "epoch [1]" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in err + out


def test_sigterm_is_status_143(config: Path, tmp_path: Path) -> None:
    """What a batch system sends before it kills: the run must not look finished."""
    words = [sys.executable, "-m", "adapter", "fit", str(config), "train.max_epochs=1000000"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment)
    for line in process.stderr:
        if "epoch [1]" in line:
            break
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 143
    assert "Traceback" not in err
