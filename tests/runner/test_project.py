"""Scripts of `run:` projects train as they are, on the modules that they do not have themselves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from adapter import ConfigError, pipeline
from adapter.runner import Trainer
from tests.distributed.launches import run, torchrun
from tests.modelscope_names.test_scripts import python
from tests.runner import tiny
from tests.runner.test_recorded import NAMES, near

PROJECT = Path(__file__).with_name("project")
ALL = """
import sys
from adapter.cli.main import main
script, *folders = sys.argv[1:]
for folder in folders:
    assert main(["run", script, "--cfg-path", f"{folder}/config.yaml", "--tell", f"{folder}/told.json"]) == 0
"""
# What a project of its own has, all but the trainer.
OWN = {
    "common/registry.py": """
class Registry:
    def __init__(self):
        self.known = {}

    def __getattr__(self, name):
        verb, _, kind = name.partition("_")
        if verb == "get":
            return lambda key: self.known.get((kind.removesuffix("_class"), key))
        return lambda key: lambda cls: self.known.setdefault((kind, key), cls)

registry = Registry()
""",
    "models/base_model.py": "from torch.nn import Module as BaseModel",
    "datasets/base_dataset.py": """
class BaseDataset:
    def __init__(self, transform):
        self.transform = transform
""",
    "processors/__init__.py": """
from common.registry import registry

class BaseProcessor:
    def __call__(self, item):
        return item

def load_processor(name, cfg=None):
    return registry.get_processor_class(name)(**(cfg or {}))
""",
    "tasks/__init__.py": """
from common.registry import registry

class BaseTask:
    def train_epoch(self, *args, **kwargs):
        raise AssertionError("the loop is Lightning's")

    def train_step(self, model, samples):
        return model.train_step(samples)

    def valid_step(self, model, samples):
        return model.val_step(samples)

    def before_evaluation(self, model, dataset, **kwargs):
        pass

    def evaluation(self, model, data_loader, cuda_enabled=True):
        return [result for samples in data_loader for result in self.valid_step(model, samples)]

def setup_task(config):
    return registry.get_task_class(config.run.task)()
""",
}


def described(name: str, folder: Path, **changes: Any) -> dict[str, Any]:
    """A recording; its config, with changes of the run section and a processor, is written to a folder."""
    recorded = json.loads((tiny.RECORDED / f"{name}.json").read_text())
    config = json.loads(json.dumps(recorded["cfg"]))
    for split in ("train", "val"):
        config["dataset"][f"{split}_cfg"]["transform"] = {"name": "as_it_is", "cfg": {}}
    config["run"].update(changes, output_dir=str(folder / "out"))
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(json.dumps(config))
    return recorded


def lines(folder: str | Path) -> list[str]:
    """The lines of log.txt after the config."""
    text = Path(folder, "log.txt").read_text()
    return text[text.index("\n}\n") + 3 :].splitlines()


def weights(folder: str | Path, name: str = "checkpoint_3.pth") -> dict[str, Any]:
    saved = torch.load(Path(folder, name), weights_only=True)
    return {key: value.double().flatten().tolist() for key, value in saved["model"].items()}


def told(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "told.json").read_text())


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder of each recording, after the project's script has trained it."""
    root = tmp_path_factory.mktemp("project")
    for name in NAMES:
        described(name, root / name)
    done = python("-c", ALL, str(PROJECT / "train.py"), *(str(root / name) for name in NAMES))
    assert done.returncode == 0, done.stderr[-3000:]
    return {name: root / name for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_the_same_as_the_direct_run(name: str, trained: dict[str, Path], tmp_path: Path) -> None:
    recorded = json.loads((tiny.RECORDED / f"{name}.json").read_text())
    config = json.loads(json.dumps(recorded["cfg"]))
    config["run"]["output_dir"] = str(tmp_path / "out")
    direct = pipeline.fit(tiny.request(tmp_path, config)).work_dir
    found = told(trained[name])
    assert lines(found["run"]) == lines(direct)
    assert weights(found["run"]) == weights(direct) == near(recorded["final"])
    best = max((row for row in recorded["log_txt"] if "val_ACC" in row), key=lambda row: float(row["val_agg_metrics"]))
    assert found["best"] == near({name: best[f"val_{name}"] for name in ("agg_metrics", "ACC")})
    assert sorted(path.name for path in Path(found["run"]).iterdir()) == recorded["files"]
    assert Path(found["run"]).name == "job"


def test_a_project_with_all_but_the_trainer(trained: dict[str, Path], tmp_path: Path) -> None:
    name = "cosine_warmup_clip_accum"
    described(name, tmp_path / "run")
    shutil.copytree(PROJECT, tmp_path / "own", ignore=shutil.ignore_patterns("__pycache__"))
    for file, text in OWN.items():
        (tmp_path / "own" / file).parent.mkdir(exist_ok=True)
        (tmp_path / "own" / file).write_text(text)
    done = python("-c", ALL, str(tmp_path / "own" / "train.py"), str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr[-3000:]
    want, got = told(trained[name]), told(tmp_path / "run")
    assert got["best"] == want["best"]
    assert lines(got["run"]) == lines(want["run"])
    assert weights(got["run"]) == weights(want["run"])


def test_the_project_s_own_trainer_runs_when_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "registry.py").write_text("registry = 'own'")
    (tmp_path / "trainer.py").write_text("Trainer = 'own'")
    (tmp_path / "train.py").write_text(
        "from common.registry import registry\nfrom trainer import Trainer\nprint(Trainer)"
    )
    done = python("-m", "adapter", "run", str(tmp_path / "train.py"))
    assert (done.returncode, done.stdout) == (0, "own\n")
    assert "trainer.py beside the script is the project's own" in done.stderr


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        ("from common.registry import registri", 2, "did you mean 'registry'?"),
        ("from common.utils import now", 2, "'common.utils' is not among the names of run: projects"),
        ("import common.registry, tasks.vision", 2, "'tasks.vision' is not among the names of run: projects"),
        ("import models", 1, "No module named 'models'"),
    ],
)
def test_what_is_not_served(script: str, status: int, said: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(script)
    done = python("-m", "adapter", "run", str(tmp_path / "train.py"))
    assert done.returncode == status
    assert said in done.stderr


@pytest.mark.parametrize("counted", [{}, {"iters_per_epoch": 5}], ids=["epochs", "iterations"])
def test_two_processes_as_in_the_direct_run(counted: dict[str, int], tmp_path: Path) -> None:
    """The script seeds each of them apart; the order of the data is one."""
    config = described("constant", tmp_path / "run", **counted)["cfg"]
    config["run"].update(counted, output_dir=str(tmp_path / "direct"))
    request = tiny.request(tmp_path, config)
    script = ("-m", "adapter", "run", str(PROJECT / "train.py"), f"--cfg-path={tmp_path}/run/config.yaml")
    commands = (
        torchrun(*script, f"--tell={tmp_path}/run/told.json"),
        torchrun("-m", "adapter", "fit", request.path, "--import", "tests.runner.tiny"),
    )
    for status, text in run(*commands):
        assert status == 0, text[-3000:]
    (direct,) = (tmp_path / "direct").iterdir()
    assert lines(told(tmp_path / "run")["run"]) == lines(direct)
    assert weights(told(tmp_path / "run")["run"]) == weights(direct)


def parts() -> dict[str, Any]:
    return {
        "model": tiny.Tiny(),
        "datasets": {"train": tiny.Data(n=38), "val": tiny.Data(n=18)},
        "task": tiny.Task(),
        "job_id": "job",
    }


class OwnLoop(tiny.Task):
    def train_epoch(self, *args: Any, **kwargs: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("changes", "others", "said"),
    [
        ({"init_lr": None}, {}, "run.init_lr: not given"),
        ({"lr_sched": "cosine"}, {}, "run.lr_sched: "),
        ({}, {"task": OwnLoop()}, "run.task: OwnLoop has a training loop of its own"),
    ],
)
def test_the_trainer_refuses(changes: dict[str, Any], others: dict[str, Any], said: str, tmp_path: Path) -> None:
    config = tiny.config(tmp_path, **changes)
    with pytest.raises(ConfigError, match=said):
        Trainer(config, **{**parts(), **others})
    assert not (tmp_path / "out").exists()


def test_the_trainer_needs_the_run_section_alone(tmp_path: Path) -> None:
    """Resuming and evaluating only are asked for there, as ever."""
    run = tiny.config(tmp_path, max_epoch=1)["run"]
    best = Trainer({"run": run}, **parts()).train()
    path = str(tmp_path / "out" / "job" / "checkpoint_0.pth")
    assert Trainer({"run": {**run, "evaluate": True, "resume_ckpt_path": path}}, **parts()).train() == best
    longer = Trainer({"run": {**run, "max_epoch": 2, "resume_ckpt_path": path}}, **parts())
    assert longer.train()["agg_metrics"] >= best["agg_metrics"]
    assert longer.epoch == 2
