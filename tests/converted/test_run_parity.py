"""A converted ``run:`` config trains as the one it was made from, bit for bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from adapter import pipeline
from adapter.config import Config
from adapter.converted.cli import ConfigCLI
from adapter.converted.run_sections import join_run, split_run
from adapter.errors import ConfigError
from adapter.runner.hooks.resume import BEST
from adapter.runner.trainer import RunTrainer
from tests.runner import tiny
from tests.runner.test_recorded import NAMES, Steps

STEPS = {"type": f"{Steps.__module__}.{Steps.__name__}"}


def recorded(name: str, folder: Path) -> dict[str, Any]:
    """The config of a recording, in a folder, with a hook that notes each loss and rate."""
    config = json.loads((tiny.RECORDED / f"{name}.json").read_text())["cfg"]
    config["run"].update(output_dir=str(folder), hooks=[STEPS])
    return config


def converted(folder: Path, config: dict[str, Any]) -> Path:
    """The file that a config becomes."""
    file = folder / "lightning.yaml"
    file.write_text(pipeline.convert(tiny.request(folder, config), str(file)))
    return file


def by_lightning(file: Path, *words: str, command: str = "fit") -> ConfigCLI:
    return ConfigCLI([command, f"--config={file}", *words])


def seen(trainer: RunTrainer) -> dict[str, Any]:
    """All that a run leaves behind; numbers as they are."""
    (steps,) = trainer.get_hook(Steps)
    folder = Path(trainer.work_dir)
    text = (folder / "log.txt").read_text()
    return {
        "steps": steps.seen,  # type: ignore[attr-defined]
        "log": tiny.log_of(trainer),
        "config": json.loads(text[: text.index("\n}\n") + 2]),
        "files": sorted(path.name for path in folder.iterdir()),
        "weights": [*tiny.weights(trainer)],
        "saved": {path.stem: numbers(torch.load(path, weights_only=True)) for path in folder.glob("*.pth")},
    }


def numbers(value: Any) -> Any:
    """What a checkpoint holds, each tensor as numbers, less the times."""
    if isinstance(value, dict):
        return {key: numbers(item) for key, item in value.items() if key not in ("time", "saved")}
    if isinstance(value, (list, tuple)):
        return [numbers(item) for item in value]
    return value.tolist() if isinstance(value, torch.Tensor) else value


def both(folder: Path, config: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a config's own run leaves behind, and that of its file."""
    file = converted(folder, config)
    owner: Any = by_lightning(file).model.owner
    return seen(pipeline.fit(tiny.request(folder, config))), seen(owner)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_trains_the_same(name: str, tmp_path: Path) -> None:
    want, got = both(tmp_path, recorded(name, tmp_path / "out"))
    assert got == want
    assert len(want["steps"]) > 8


def test_evaluates_test_splits_and_resumes_the_same(tmp_path: Path) -> None:
    """With several splits, iterations counted in place of epochs, and a callback of Lightning among the hooks."""
    config = recorded("constant", tmp_path / "out")
    config["dataset"]["test_cfg"] = {"name": "map_data", "n": 10}
    limits = {"runner": "runner_iter", "max_iters": 12, "iters_per_inner_epoch": 4, "seed": 7}
    native = {"type": "Timer"}
    config["run"].update(limits, valid_splits=["val"], test_splits=["test"], hooks=[STEPS, native], max_epoch=None)
    want, got = both(tmp_path, config)
    assert got == want
    assert [key for row in want["log"] for key in row if key.startswith("test_")]
    first = next(path for path in (tmp_path / "out").glob("*/checkpoint_1.pth"))
    config["run"]["resume_ckpt_path"] = str(first)
    want, got = both(tmp_path, config)
    assert got == want
    assert len(want["steps"]) == 4


def test_the_trainers_arguments_win(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = converted(tmp_path, recorded("constant", tmp_path / "out"))
    assert yaml.safe_load(file.read_text())["trainer"]["max_epochs"] == 4
    words = ("--trainer.max_epochs=2", "--trainer.limit_train_batches=3", f"--trainer.default_root_dir={tmp_path}/own")
    owner: Any = by_lightning(file, *words, "--model.init_args.run.init_lr=0.5").model.owner
    (steps,) = owner.get_hook(Steps)
    assert [step["lrs"][0] for step in steps.seen] == [0.5] * 6
    assert Path(owner.work_dir).parent == tmp_path / "own"
    assert not (tmp_path / "out").exists()
    assert any("trainer.max_epochs=2 wins" in warning for warning in owner._warnings)


class Looped(tiny.Task):
    """Has an evaluation loop of its own."""

    def evaluation(self, model: Any, data_loader: Any) -> Any:
        return [result for samples in data_loader for result in self.valid_step(model, samples)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The best checkpoint of a run."""
    folder = tmp_path_factory.mktemp("trained")
    return str(Path(pipeline.fit(tiny.request(folder, recorded("constant", folder / "out"))).work_dir, BEST))


def with_splits(folder: Path, **changes: Any) -> dict[str, Any]:
    """The config of a recording with three splits to evaluate, of which ``val`` is not the first."""
    config = recorded("constant", folder / "out")
    config["dataset"].update({f"{name}_cfg": {"name": "map_data", "n": n} for name, n in (("dev", 7), ("test", 10))})
    config["run"].update({"valid_splits": ["dev", "val"], "test_splits": ["test"], **changes})
    return config


@pytest.mark.parametrize("task", ["tiny_cls", f"{__name__}.Looped"])
def test_evaluates_every_split(task: str, trained: str, tmp_path: Path) -> None:
    config = with_splits(tmp_path, task=task)
    file = converted(tmp_path, config)
    want = pipeline.validate(tiny.request(tmp_path, config), trained)
    assert list(want) == ["agg_metrics", "ACC", "dev_agg_metrics", "dev_ACC"]
    cli = by_lightning(file, f"--ckpt_path={trained}", command="validate")
    assert cli.model.owner.metric_values == want
    assert {name: value.item() for name, value in cli.trainer.callback_metrics.items()} == pytest.approx(want)
    config["run"].update(evaluate=True, resume_ckpt_path=trained)
    direct: Any = pipeline.fit(tiny.request(tmp_path, config))
    tested: Any = by_lightning(file, f"--ckpt_path={trained}", command="test").model.owner
    assert tested.evaluations == {"test": direct.evaluations["test"]}


@pytest.mark.parametrize("splits", [["val"], ["dev"]])
def test_predicts_the_same(splits: list[str], trained: str, tmp_path: Path) -> None:
    config = with_splits(tmp_path, valid_splits=splits)
    file, out = converted(tmp_path, config), tmp_path / "direct.jsonl"
    count = pipeline.predict(tiny.request(tmp_path, config), trained, str(out))
    cli = by_lightning(file, f"--ckpt_path={trained}", command="predict")
    assert Path(cli.model.owner.work_dir, "predictions.jsonl").read_bytes() == out.read_bytes()
    assert sum(map(len, cli.trainer.predict_loop.predictions)) == count == {"val": 18, "dev": 7}[splits[0]]


@pytest.mark.parametrize(
    ("changes", "command", "says"),
    [
        ({"evaluate": True}, "fit", "run.evaluate: true"),
        ({"valid_splits": []}, "validate", "run.valid_splits: there is no data to evaluate on"),
        ({}, "test", "run.test_splits: there is no data to evaluate on"),
        ({"valid_splits": []}, "predict", "run.valid_splits: there is no data set to predict"),
    ],
)
def test_refuses(changes: dict[str, Any], command: str, says: str, tmp_path: Path) -> None:
    config = recorded("constant", tmp_path / "out")
    config["run"].update(changes)
    file = converted(tmp_path, config)
    with pytest.raises(ConfigError, match=says):
        by_lightning(file, command=command)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("hooks", [None, [], [STEPS, {"type": "IterTimerHook"}, {"type": "x", "a": 1}]])
@pytest.mark.parametrize("data", [{"dataset": {"train_cfg": {"name": "a"}}}, {"datasets": {"a": None}}])
def test_there_and_back(data: dict[str, Any], hooks: Any, tmp_path: Path) -> None:
    config = Config({"model": {"arch": "b"}, **data, "run": {"task": "c", "hooks": hooks}, "env": {"x": 1}})
    assert join_run(split_run(config, {})) == config.to_dict()
