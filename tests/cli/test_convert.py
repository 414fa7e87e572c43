"""adapter convert, and adapter lightning with what it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from jsonargparse import ArgumentParser

from adapter.cli.main import main
from adapter.config import Config
from adapter.converted import ConfigData, ConfigModel
from tests.cli.conftest import log_of, write
from tests.conftest import ROOT, Adapter


def losses(work_dir: Path) -> list[Any]:
    return [row.get("loss") for row in log_of(work_dir)]


@pytest.fixture
def file(config: Path, adapter: Adapter) -> Path:
    done = adapter("convert", config.name, "train.work_dir=direct", "-o", "lightning.yaml")
    assert done.returncode == 0, done.stderr
    return config.with_name("lightning.yaml")


def test_is_an_ordinary_file(file: Path) -> None:
    document = yaml.safe_load(file.read_text())
    assert list(document) == ["seed_everything", "trainer", "model", "data"]
    hooks = [callback["init_args"]["type"] for callback in document["trainer"]["callbacks"]]
    assert hooks == [
        "OptimizerHook",
        "LrSchedulerHook",
        "EvaluationHook",
        "CheckpointHook",
        "TextLoggerHook",
        "IterTimerHook",
    ]
    assert {key: document["trainer"][key] for key in ("max_epochs", "default_root_dir", "logger", "precision")} == {
        "max_epochs": 2,
        "default_root_dir": "direct",
        "logger": False,
        "precision": "32-true",
    }


def test_runs_as_the_config_does(file: Path, adapter: Adapter) -> None:
    """By adapter lightning, and by a script of three lines, twice in the same work directory."""
    folder = file.parent
    assert adapter("fit", "config.json", "--work-dir", "direct").returncode == 0
    done = adapter("lightning", "fit", "--config", file.name, "--trainer.default_root_dir", "ours")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (folder / "ours").iterdir() if ".log" not in path.name) == sorted(
        path.name for path in (folder / "direct").iterdir() if ".log" not in path.name
    )
    (folder / "own.py").write_text("from lightning.pytorch.cli import LightningCLI\n\nLightningCLI()\n")
    for _ in range(2):
        own = subprocess.run(
            [sys.executable, "own.py", "fit", "--config", file.name, "--trainer.default_root_dir=own"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert own.returncode == 0, own.stderr
    for each in ("ours", "own"):
        want, got = (torch.load(folder / where / "epoch_2.pth") for where in ("direct", each))
        assert all(torch.equal(want[name], got[name]) for name in want)
    assert losses(folder / "ours") == losses(folder / "direct")


def test_what_is_to_look_in_is_written_too(tmp_path: Path, config: Path, adapter: Adapter) -> None:
    write(tmp_path, {"train.loggers": ["csv"], "train.profiler": "simple", "train.work_dir": "run"})
    assert adapter("convert", config.name, "-o", "lightning.yaml").returncode == 0
    done = adapter("lightning", "fit", "--config", "lightning.yaml")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "fit-profile.txt").stat().st_size
    assert list((tmp_path / "run" / "csv").rglob("metrics.csv"))


def test_the_command_line_wins(file: Path, adapter: Adapter) -> None:
    """Over the file, in the Trainer's arguments and in the model's, and a run goes on from a pair."""
    words = ("--config", file.name, "--trainer.default_root_dir=ours", "--model.init_args.optimizer.lr", "0.5")
    assert adapter("lightning", "fit", *words, "--trainer.max_epochs", "1").returncode == 0
    assert [row["lr"] for row in log_of(file.parent / "ours") if row["mode"] == "train"] == [0.5] * 3
    done = adapter("lightning", "fit", *words, "--trainer.max_epochs=3", "--ckpt_path", "ours/epoch_1.pth")
    assert done.returncode == 0, done.stderr
    assert "epoch [2][1/3]" in done.stderr
    assert "epoch [1]" not in done.stderr
    assert (file.parent / "ours" / "epoch_3.pth").exists()


def test_validate(file: Path, adapter: Adapter) -> None:
    assert adapter("lightning", "fit", "--config", file.name).returncode == 0
    weights = "direct/epoch_2.pth"
    want = json.loads(adapter("validate", "config.json", "--ckpt", weights, "--json").stdout)
    done = adapter("lightning", "validate", "--config", file.name, "--ckpt_path", weights)
    assert done.returncode == 0, done.stderr
    assert f"{want['accuracy']:.5f}"[:6] in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("fit", "--data.init_args.dataset.train.file", "x.csv"), "--data.init_args.dataset.train.file: is below"),
        (("fit", "--trainer.accumulate_grad_batches", "2"), "use train.optimizer.options.cumulative_iters"),
        (("fit", "--trainer.max_epochs", "many"), "max_epochs"),
        (("fit", "--model.init_args.model.type", "none"), "model.type"),
        (("test",), "test"),
    ],
)
def test_refuses(
    words: tuple[str, ...],
    says: str,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(file.parent)
    for name in ("PL_GLOBAL_SEED", "PL_SEED_WORKERS"):  # LightningCLI sets them
        monkeypatch.setenv(name, "0")
    try:
        status = main(["lightning", words[0], "--config", file.name, *words[1:]])
    except SystemExit as end:  # what LightningCLI itself refuses
        status = end.code
    assert status == 2
    assert says in capfd.readouterr().err
    assert not (file.parent / "direct").exists()


def test_prints_its_config(file: Path, adapter: Adapter) -> None:
    done = adapter("lightning", "fit", "--config", file.name, "--trainer.max_epochs=7", "--print_config")
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout)["trainer"]["max_epochs"] == 7


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"train.hook_fn": "<callable:my.fn>"},
            "train.hook_fn: found '<callable:my.fn>', which stands for a value that a program fills in",
        ),
        ({"model.extra": {"class_path": "torch.nn.Linear"}}, "model.extra: a mapping with a class_path"),
        ({"train.max_epochs": 0}, "train.max_epochs"),
    ],
)
def test_names_what_cannot_be_converted(changes: dict[str, Any], says: str, config: Path, adapter: Adapter) -> None:
    write(config.parent, changes)
    done = adapter("convert", config.name, "-o", "lightning.yaml")
    assert done.returncode == 2
    assert says in done.stderr
    assert not config.with_name("lightning.yaml").exists()


def test_a_run_config_keeps_its_sections(tmp_path: Path) -> None:
    folder, file = ROOT / "configs" / "run", tmp_path / "lightning.yaml"
    words = ["run.seed=7", "--import", str(folder / "project.py"), "-o", str(file)]
    assert main(["convert", str(folder / "digits.yaml"), *words]) == 0
    document, written = yaml.safe_load(file.read_text()), Config.from_file(folder / "digits.yaml")
    trainer, model = document["trainer"], document["model"]["init_args"]
    assert document["seed_everything"] == 7
    assert [(file.parent / name).resolve() for name in model["imports"]] == [folder / "project.py"]
    assert (trainer["max_epochs"], trainer["default_root_dir"]) == (6, "output/digits")
    assert (trainer["accelerator"], trainer["callbacks"]) == ("cpu", [])
    assert list(model["run"]) == [*written.run, "seed"]
    assert list(document["data"]["init_args"]) == ["dataset"]


def test_names_code_of_a_python_config(config: Path, adapter: Adapter) -> None:
    code = "import json\n" + config.read_text().replace("true", "True").replace("null", "None")
    names = ("task", "model", "dataset", "train", "evaluation")
    body = "\n".join(f"{name} = _all['{name}']" for name in names)
    config.with_name("config.py").write_text(
        code.replace("import json\n", "import json\n_all = ") + f"\n{body}\nmodel['init'] = json.loads\n"
    )
    done = adapter("convert", "config.py", "--trust-remote-code", "-o", "lightning.yaml")
    assert done.returncode == 2, done.stderr
    assert "model.init: an object made by code, <callable:json.loads>" in done.stderr
    assert not config.with_name("lightning.yaml").exists()


def test_data_and_code_are_found_from_the_folder_of_the_file(config: Path, tmp_path: Path) -> None:
    """Wherever the command runs, in ours and in anybody's parser of arguments."""
    code = config.with_name("code_of_my_own.py")
    code.write_text("")
    for out in (config.with_name("lightning.yaml"), tmp_path / "else where" / "lightning.yaml"):
        assert main(["convert", str(config), "--import", str(code), "--import", "json", "-o", str(out)]) == 0
        document, parser = yaml.safe_load(out.read_text()), ArgumentParser()
        parser.add_argument("--config", action="config")
        for name, cls in (("model", ConfigModel), ("data", ConfigData)):
            parser.add_class_arguments(cls, name)
        (out.parent / "both.yaml").write_text(
            yaml.safe_dump({name: document[name]["init_args"] for name in ("model", "data")})
        )
        read = parser.parse_args([f"--config={out.parent}/both.yaml"])
        assert ConfigData(**vars(read.data)).base_dir.resolve() == config.parent.resolve()
        file, module = ConfigModel(**vars(read.model)).imports
        assert (Path(file).resolve(), module) == (code.resolve(), "json")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fit", "--ckpt_path=gone.pth"], "--ckpt_path: no checkpoint at 'gone.pth'"),
        (["predict", "--ckpt_path=gone.pth"], "--ckpt_path: no checkpoint at 'gone.pth'"),
    ],
)
def test_a_checkpoint_that_is_not_there(
    words: list[str], said: str, config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(config.parent)
    assert main(["convert", config.name, "-o", "lightning.yaml"]) == 0
    assert main(["lightning", words[0], "--config=lightning.yaml", *words[1:]]) == 2
    assert said in capsys.readouterr().err


def test_a_lightning_file_is_not_json(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(config), "-o", "lightning.json"]) == 2
    assert "--out: 'lightning.json' is named as JSON" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gone.yaml", None, "gone.yaml: 1 problem\n  no such file"),
        ("picture.yaml", b"\x89PNG\r\n", "picture.yaml: 1 problem\n"),
        (
            "config.yaml",
            b"model: {type: x}\ntrain: {}\n",
            "a config, and not a LightningCLI file\n      fix: `adapter convert",
        ),
        ("run.yaml", b"model: {arch: x}\nrun: {}\n", "a config, and not a LightningCLI file"),
    ],
)
@pytest.mark.parametrize("form", ["--config={}", "--config {}", "-c {}"])
def test_another_file_is_refused(
    name: str, content: bytes | None, said: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert main(["lightning", "fit", *form.format(tmp_path / name).split(" ")]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("command", ["fit", "explain", "convert", "migrate"])
def test_a_file_that_is_converted_already_is_no_config(
    command: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(file)]) == 2
    assert f"a LightningCLI file, and not a config\n      fix: `adapter lightning fit --config {file}` runs it" in (
        capsys.readouterr().err
    )


def test_a_wrong_option_is_told_in_a_few_lines(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["lightning", "fit", f"--config={file}", "--trainer.epochs=3"])
    assert stop.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("usage: adapter lightning fit --config FILE [--KEY VALUE ...]\n")
    assert len(told.splitlines()) < 8


def test_a_file_that_is_printed_may_be_put_anywhere(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(config.parent)
    assert main(["convert", config.name]) == 0
    document = yaml.safe_load(capsys.readouterr().out)
    assert document["data"]["init_args"]["base_dir"] == str(config.parent)
