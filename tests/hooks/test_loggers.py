from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter import ConfigError
from adapter.hooks.loggers import LoggersHook
from tests.hooks.test_tensorboard import scalars
from tests.small_runs import build, settings

LOG = {"interval": 2}


def run(folder: Path, loggers: Any) -> Path:
    config = settings(train__loggers=loggers, train__logging=LOG, train__max_epochs=2, evaluation__period={})
    config["evaluation"]["period"] = {"interval": 1}
    config["train"]["checkpoint"] = {"period": {"interval": 1, "hub_token": "secret"}}
    build(folder, config).train()
    return folder / "work"


def run_twice(folder: Path, loggers: Any) -> Path:
    """Two epochs, then a third that goes on from them; in the work directory that is returned."""
    work_dir = run(folder, loggers)
    again = build(folder, settings(train__loggers=loggers, train__logging=LOG, train__max_epochs=3))
    again.timestamp = "later"
    again.train(str(work_dir / "epoch_2.pth"))
    return work_dir


def rows(work_dir: Path) -> list[dict[str, str]]:
    (path,) = work_dir.glob("csv/*/metrics.csv")
    with open(path) as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The work directory of a run with two loggers."""
    return run(tmp_path_factory.mktemp("run"), ["csv", {"type": "tensorboard", "name": "board"}])


def test_they_get_the_numbers_of_the_text_log(both: Path) -> None:
    lines = [json.loads(line) for line in next(both.glob("*.log.json")).read_text().splitlines()]
    found = rows(both)
    assert len(found) == len(lines) == 4
    for row, line in zip(found, lines, strict=True):
        for name in ("loss", "lr", "evaluation/accuracy", "epoch"):
            assert (name in line) == bool(row[name])
            assert name not in line or float(row[name]) == pytest.approx(line[name], abs=1e-5)
    assert [int(row["step"]) for row in found] == [2, 4, 5, 7]


def test_each_has_its_own_arguments(both: Path) -> None:
    (folder,) = both.glob("board/*")
    assert [step for step, _ in scalars(folder)["loss"]] == [2, 5]


def test_they_get_the_config_without_tokens(both: Path) -> None:
    (path,) = both.glob("csv/*/hparams.yaml")
    saved = yaml.safe_load(path.read_text())
    assert saved["train"]["max_epochs"] == 2
    assert saved["train"]["checkpoint"]["period"] == {"interval": 1, "save_dir": str(both)}


@pytest.mark.parametrize("given", ["csv", {"type": "csv"}])
def test_one_alone(given: Any, tmp_path: Path) -> None:
    assert len(rows(run(tmp_path, given))) == 4


def test_a_resumed_run_has_a_file_of_its_own(tmp_path: Path) -> None:
    work_dir = run_twice(tmp_path, "csv")
    files = sorted(work_dir.glob("csv/*/metrics.csv"))
    assert [len(path.read_text().splitlines()) for path in files] == [5, 2]


@pytest.mark.filterwarnings("ignore")  # wandb's own
def test_wandb_goes_on_with_its_run(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="wandb, 60 MB, is not among the packages for tests")
    work_dir = run_twice(tmp_path, {"type": "wandb", "offline": True})
    first, second = sorted(work_dir.glob("wandb/offline-run-*/*.wandb"))
    assert first.name == second.name
    assert first.parent != second.parent
    for path, step in ((first, b"7"), (second, b"10")):
        held = path.read_bytes()
        assert b"trainer/global_step" in held.rpartition(step)[0]
        assert (b"evaluation/accuracy" in held) == (path is first)
        assert b"secret" not in held


@pytest.mark.filterwarnings("ignore")  # mlflow's own, of its data base
def test_mlflow_goes_on_with_its_run(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow, 200 MB with what it needs, is not among those for tests")
    work_dir = run_twice(tmp_path, "mlflow")
    client = mlflow.MlflowClient(f"sqlite:///{work_dir}/mlflow.db")
    (found,) = client.search_runs([each.experiment_id for each in client.search_experiments()])
    assert found.info.status == "FINISHED"
    assert found.data.params["train/max_epochs"] == "2"  # what it began with
    assert "secret" not in str(found.data.params)
    losses = client.get_metric_history(found.info.run_id, "loss")
    lines = [json.loads(line) for path in sorted(work_dir.glob("*.log.json")) for line in path.open()]
    written = [line["loss"] for line in lines if "loss" in line]
    assert [each.step for each in losses] == [2, 5, 8]
    assert [each.value for each in losses] == pytest.approx(written, abs=1e-5)


def test_one_that_cannot_write_is_named(tmp_path: Path) -> None:
    trainer = build(tmp_path, settings(train__loggers="csv", train__logging=LOG))
    (tmp_path / "work").mkdir(exist_ok=True)
    (tmp_path / "work" / "csv").touch()
    with pytest.raises(ConfigError, match=r"train\.loggers: csv cannot begin: .*work/csv"):
        trainer.train()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("cvs", r"train\.loggers: no logger is called 'cvs'; allowed: csv, tensorboard.*Did you mean 'csv'"),
        ([{"type": "csv", "flush": 1}], r"train\.loggers\.flush: CSVLogger takes no argument 'flush'"),
        ([{"name": "x"}], r"train\.loggers: no logger is called ''"),
        (3, r"train\.loggers: found 3"),
    ],
)
def test_what_cannot_be_is_refused(given: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        build(tmp_path, settings(train__loggers=given))
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("name", ["tensorboard", "wandb", "mlflow"])
def test_a_missing_package_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda package: None)
    with pytest.raises(ConfigError, match=rf"'{name}' needs the package {name}\s+fix: pip install {name}"):
        LoggersHook(name)
