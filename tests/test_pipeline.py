"""A run from its file: what is refused and how, importing the user's code, and whole runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapter import HOOKS, ConfigError, pipeline
from tests.small_runs import settings

ROWS = "a,b,label\n" + "0.5,1.0,0\n-0.5,-1.0,1\n" * 8
PLATEAU = '"lr_scheduler_hook": {"type": "PlateauLrSchedulerHook", "metric_key": "accuracy"}'


def alone(folder: Path, **changes: Any) -> Path:
    """A config file that names its own model and data."""
    (folder / "rows.csv").write_text(ROWS)
    rows = {"type": "csv", "file": "rows.csv", "features": ["a", "b"], "label": "label"}
    usual = {
        "model": {"type": "mlp-classifier", "in_features": 2, "num_classes": 2, "hidden": 4},
        "dataset": {"train": rows, "val": rows},
    }
    path = folder / "config.json"
    path.write_text(json.dumps(settings(**{**usual, **changes}), indent=1))
    return path


def request(path: Path, **more: Any) -> pipeline.Request:
    return pipeline.Request(str(path), work_dir=str(path.parent / "work"), **more)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# refusals: each with its key, what was found, and what helps

REFUSED: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "wrong type": (
        {"train__max_epochs": "three"},
        "train.max_epochs",
        ['found "three"', "allowed: an integer of 1 or more"],
    ),
    "quoted number": ({"train__max_epochs": "3"}, "train.max_epochs", ['found "3"', "write 3 without quotes"]),
    "out of range": ({"train__max_epochs": 0}, "train.max_epochs", ["found 0", "an integer of 1 or more"]),
    "bad choice": (
        {"evaluation__period": {"eval_strategy": "weekly"}},
        "evaluation.period.eval_strategy",
        ['found "weekly"', "by_epoch, by_step, no"],
    ),
    "section that is none": ({"train__optimizer": 3}, "train.optimizer", ["found 3", "a mapping"]),
    "hook": (
        {"train__hooks": [{"type": "EarlyStopHok"}]},
        "train.hooks[0].type",
        ["'EarlyStopHok'", "'EarlyStopHook'"],
    ),
    "hook argument": (
        {
            "train__hooks": [{"type": "EarlyStopHook", "metric_key": "accuracy", "patience": "3"}],
            "evaluation__period": {},
        },
        "train.hooks[0].patience",
        ['found "3"', "an integer of 0 or more"],
    ),
    "hook path": (
        {"train__hooks": [{"type": "no_such.Hook"}]},
        "train.hooks[0].type",
        ["cannot import 'no_such.Hook'"],
    ),
    "hook of another kind": ({"train__hooks": [{"type": "json.JSONEncoder"}]}, "train.hooks[0].type", ["is no hook"]),
    "optimizer value": ({"train__optimizer__momentum": "foo"}, "train.optimizer", ["SGD refuses its arguments"]),
    "optimizer value of another kind": (
        {"train__optimizer": {"type": "Adam", "betas": 0.9}},
        "train.optimizer",
        ["Adam refuses its arguments"],
    ),
    "optimizer that steps otherwise": (
        {"train__optimizer": {"type": "LBFGS"}},
        "train.optimizer.type",
        ["LBFGS evaluates the model several times a step", "any other optimizer"],
    ),
    "what is passed in code": (
        {"train__optimizer__params": [1]},
        "train.optimizer.params",
        ["SGD takes no argument 'params'"],
    ),
    "scheduler value": ({"train__lr_scheduler__step_size": "x"}, "train.lr_scheduler", ["StepLR refuses"]),
    "scheduler value that fails in a step": (
        {"train__lr_scheduler__step_size": 0},
        "train.lr_scheduler",
        ["StepLR refuses its arguments: integer ", "modulo by zero"],
    ),
    "scheduler in the middle": ({"train__lr_scheduler__last_epoch": 5}, "train.lr_scheduler", ["'initial_lr'"]),
    "scheduler without its length": (
        {"train__lr_scheduler": {"type": "OneCycleLR", "max_lr": 0.1}},
        "train.lr_scheduler",
        ["total_steps"],
    ),
    "scheduler of a function": (
        {"train__lr_scheduler": {"type": "LambdaLR", "lr_lambda": "lambda n: n"}},
        "train.lr_scheduler",
        ["'str' object is not callable"],
    ),
    "no batch": (
        {"train__dataloader": {"batch_size_per_gpu": 64, "workers_per_gpu": 0, "drop_last": True}},
        "train.dataloader",
        ["16 samples make no batch of 64 with drop_last", "smaller batch_size_per_gpu"],
    ),
    "metric": ({"evaluation__metrics": ["acuracy"]}, "evaluation.metrics[0]", ["'acuracy'", "'accuracy'"]),
    "metric argument": (
        {"evaluation__metrics": [{"type": "loss-metric", "loss_kee": "loss"}]},
        "evaluation.metrics[0].loss_kee",
        ["takes no argument 'loss_kee'", "'loss_key'"],
    ),
    "optimizer": ({"train__optimizer__type": "AdamV"}, "train.optimizer.type", ["unknown optimizer 'AdamV'", "'Adam'"]),
    "optimizer without type": ({"train__optimizer": {"lr": 1}}, "train.optimizer.type", ["not given"]),
    "scheduler": ({"train__lr_scheduler__type": "StepLr"}, "train.lr_scheduler.type", ["'StepLr'", "'StepLR'"]),
    "no max_epochs": ({"train__max_epochs": None}, "train.max_epochs", ["not given", "pass max_epochs=N"]),
    "no optimizer": ({"train__optimizer": None}, "train.optimizer", ["not given", '"type": "AdamW"']),
    "no metrics": (
        {"task": "my-task", "evaluation__metrics": None, "evaluation__period": {"interval": 1}},
        "evaluation.metrics",
        ["'my-task' has no default metric", "add metrics"],
    ),
    "plateau without its hook": (
        {"train__lr_scheduler": {"type": "ReduceLROnPlateau"}},
        "train.lr_scheduler",
        [PLATEAU],
    ),
    "best saver without evaluation": (
        {"train__checkpoint": {"best": {"metric_key": "accuracy"}}},
        "train.checkpoint.best",
        ["BestCkptSaverHook follows evaluations", 'add "evaluation": {"period": {"interval": 1}}'],
    ),
    "best saver without metric": (
        {"train__checkpoint": {"best": {}}, "evaluation__period": {"interval": 1}},
        "train.checkpoint.best.metric_key",
        ["needs 'metric_key'"],
    ),
    "a value to be filled in": (
        {"train__optimizer__lr": "<expr: base / 2>"},
        "train.optimizer.lr",
        ["found '<expr: base / 2>'", "set it in cfg_modify_fn"],
    ),
    "model": ({"model": {"type": "mlp-clasifier"}}, "model.type", ["'mlp-clasifier'", "'mlp-classifier'"]),
    "model argument": (
        {"model": {"type": "mlp-classifier", "in_featurs": 2, "num_classes": 2, "in_features": 2}},
        "model.in_featurs",
        ["takes no argument 'in_featurs'", "'in_features'"],
    ),
    "data file": (
        {"dataset__train": {"type": "csv", "file": "absent.csv", "features": ["a"], "label": "label"}},
        "dataset.train.file",
        ["absent.csv"],
    ),
    "data column": (
        {"dataset__train": {"type": "csv", "file": "rows.csv", "features": ["a", "c"], "label": "label"}},
        "dataset.train.file",
        ["'c'", "rows.csv"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_config_that_cannot_run_is_refused_before_anything_is_written(name: str, tmp_path: Path) -> None:
    changes, key, texts = REFUSED[name]
    path = alone(tmp_path, **changes)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ConfigError) as caught:
        pipeline.fit(request(path))
    error = caught.value
    assert [problem.key for problem in error.problems] == [key]
    assert str(error).startswith(f"{path}: 1 problem\n")
    assert all(text in str(error) for text in texts), str(error)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("absent.yaml", None, ["no such file", "check the path"]),
        ("empty.yaml", "", ["empty"]),
        ("list.json", "[1, 2]", ["a mapping"]),
        ("broken.yaml", "train:\n  max_epochs: [1\nmodel: x\n", ["line 3", "model: x"]),
        ("broken.json", '{"train": {"max_epochs": 1,}}', ["line 1", '{"train": {"max_epochs": 1,}}']),
        ("config.txt", "train: {}", [".txt", ".yaml"]),
        ("twice.yaml", "train: {}\ntask: x\ntrain: {}\n", ["train", "line 3", "1"]),
    ],
)
def test_a_file_that_cannot_be_read_is_shown(name: str, text: str | None, words: list[str], tmp_path: Path) -> None:
    alone(tmp_path)
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        pipeline.fit(request(path))
    assert caught.value.file == str(path)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert not (tmp_path / "work").exists()


def test_every_problem_is_reported_at_once_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("task: nli\ntrain:\n  max_epochs: none\n  optimizer: {type: AdamV}\nmodel: {type: mlp}\n")
    with pytest.raises(ConfigError) as caught:
        pipeline.build(request(path))
    assert [(problem.key, problem.line) for problem in caught.value.problems] == [
        ("train.max_epochs", 3),
        ("train.optimizer.type", 4),
        ("model.type", 5),
    ]


def test_an_old_key_is_named_as_the_user_wrote_it(tmp_path: Path) -> None:
    path = alone(tmp_path, train__hooks=[{"type": "TextLoggerHook", "interval": -1}])
    with pytest.raises(ConfigError) as caught:
        pipeline.build(request(path))
    assert [problem.key for problem in caught.value.problems] == ["train.hooks[0].interval"]


def test_unknown_keys_are_refused_when_asked_to(tmp_path: Path) -> None:
    path = alone(tmp_path, train__max_epoch=7)
    assert pipeline.build(request(path)).max_epochs == 1
    with pytest.raises(ConfigError, match=r"train\.max_epoch: nothing reads this key\s+fix: did you mean max_epochs"):
        pipeline.build(request(path, strict=True))


# the user's own code

OWN = """
from adapter import HOOKS, Hook

@HOOKS.register_module(module_name="{name}")
class Mine(Hook):
    def before_run(self, trainer):
        trainer.mine = True
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    """A Python file that registers a hook; forgotten again afterwards."""
    path = tmp_path / "own_code_of_a_test.py"
    path.write_text(OWN.format(name="mine-in-a-test"))
    yield path
    HOOKS.modules["default"].pop("mine-in-a-test", None)
    sys.modules.pop("own_code_of_a_test", None)


@pytest.mark.parametrize("as_module", [False, True])
def test_imports_register_the_users_classes(as_module: bool, own: Path, tmp_path: Path) -> None:
    path = alone(tmp_path, train__hooks=[{"type": "mine-in-a-test"}])
    with pytest.raises(ConfigError, match="unknown hook 'mine-in-a-test'"):
        pipeline.build(request(path))
    trainer = pipeline.fit(request(path, imports=[own.stem if as_module else str(own)]))
    assert trainer.mine


@pytest.mark.parametrize(
    "declared",
    [
        ["own_code_of_a_test.py"],
        "own_code_of_a_test.py",
        {"imports": ["own_code_of_a_test.py"]},
        ["own_code_of_a_test"],
    ],
)
def test_imports_that_a_config_asks_for_need_trust(declared: Any, own: Path, tmp_path: Path) -> None:
    path = alone(tmp_path, custom_imports=declared, train__hooks=[{"type": "mine-in-a-test"}])
    with pytest.raises(ConfigError, match="custom_imports: the config asks to run code: own_code_of_a_test"):
        pipeline.build(request(path))
    assert "own_code_of_a_test" not in sys.modules
    assert pipeline.fit(request(path, trust_remote_code=True)).mine


@pytest.mark.parametrize("key", ["plugins", "allow_remote"])
def test_code_of_others_needs_trust(key: str, tmp_path: Path) -> None:
    path = alone(tmp_path, **{key: True if key == "allow_remote" else ["package"]})
    with pytest.raises(ConfigError, match=rf"{key}: the config asks to run code.*\s+fix: .*--trust-remote-code"):
        pipeline.build(request(path))


def test_a_file_is_imported_once(own: Path) -> None:
    pipeline.import_user_code([str(own), str(own)])
    assert "mine-in-a-test" in HOOKS.names()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("absent_file.py", "cannot import 'absent_file.py': FileNotFoundError: no file"),
        ("absent_module_of_a_test", "cannot import 'absent_module_of_a_test': ModuleNotFoundError: No module named"),
        ("json.py", "its name is that of a module already imported"),
        ("broken_code_of_a_test.py", "SyntaxError: '\\(' was never closed"),
        ("dividing_code_of_a_test.py", "ZeroDivisionError: division by zero"),
        ("dividing_code_of_a_test", "ZeroDivisionError: division by zero"),
        ("leaving_code_of_a_test.py", "SystemExit: 7"),
    ],
)
def test_code_that_cannot_be_imported_is_refused(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("")
    (tmp_path / "broken_code_of_a_test.py").write_text("print(")
    (tmp_path / "dividing_code_of_a_test.py").write_text("1 / 0")
    (tmp_path / "leaving_code_of_a_test.py").write_text("raise SystemExit(7)")
    path = list(sys.path)
    with pytest.raises(ConfigError, match=text) as caught:
        pipeline.import_user_code([name])
    assert [problem.key for problem in caught.value.problems] == ["--import"]
    assert sys.path == path
    assert name.removesuffix(".py") == "json" or name.removesuffix(".py") not in sys.modules


# whole runs


def test_fit_trains_what_the_file_describes(tmp_path: Path) -> None:
    overrides = {"train.max_epochs": 2, "evaluation.period.interval": 1}
    path = alone(tmp_path)
    trainer = pipeline.fit(request(path, overrides=overrides, seed=5, trainer_args={"limit_train_batches": 3}))
    assert (trainer.epoch, trainer.iter, trainer._seed) == (2, 6, 5)
    assert (tmp_path / "work" / "epoch_2.pth").is_file()
    values = pipeline.validate(request(path), checkpoint=str(tmp_path / "work" / "epoch_2"))
    assert values == trainer.metric_values


def test_relative_files_start_at_the_configs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    path = alone(tmp_path)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(pipeline.build(request(path)).train_dataset) == 16


def test_explain_says_where_each_key_goes_and_writes_nothing(tmp_path: Path) -> None:
    path = alone(tmp_path, train__max_epoch=7)
    before = sorted(tmp_path.rglob("*"))
    text = pipeline.explain(request(path, overrides={"train.max_epochs": 9})).as_text()
    assert "train.max_epochs" in text
    assert "9" in text
    assert "did you mean" in text.lower()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["alone.pth", "alone", "output/pytorch_model.bin"])
def test_going_on_needs_a_trainer_state(name: str, tmp_path: Path) -> None:
    path = alone(tmp_path)
    pipeline.fit(request(path))
    work = tmp_path / "work"
    (work / "alone.pth").write_bytes((work / "epoch_1.pth").read_bytes())
    before = {each: each.stat().st_mtime_ns for each in work.rglob("*")}
    with pytest.raises(ConfigError, match=rf"--resume: '.*{name}' has no trainer state beside it.*\s+fix: name a pair"):
        pipeline.fit(request(path, resume=str(work / name), overrides={"train.max_epochs": 2}))
    assert {each: each.stat().st_mtime_ns for each in work.rglob("*")} == before


@pytest.mark.parametrize("name", ["epoch_1", "epoch_1.pth", "epoch_1_trainer_state.pth"])
def test_going_on_from_either_file_of_a_pair(name: str, tmp_path: Path) -> None:
    path = alone(tmp_path)
    pipeline.fit(request(path))
    trainer = pipeline.fit(request(path, resume=str(tmp_path / "work" / name), overrides={"train.max_epochs": 2}))
    assert (trainer.epoch, trainer.iter) == (2, 8)


def test_a_checkpoint_of_another_optimizer_is_the_option_s_problem(tmp_path: Path) -> None:
    path = alone(tmp_path)
    pipeline.fit(request(path))
    before = sorted((tmp_path / "work").rglob("*"))
    with pytest.raises(ConfigError, match=r"--resume: '.*' holds the state of SGD, but this run uses Adam;"):
        pipeline.fit(request(path, resume="last", overrides={"train.optimizer": {"_delete_": True, "type": "Adam"}}))
    assert sorted((tmp_path / "work").rglob("*")) == before
