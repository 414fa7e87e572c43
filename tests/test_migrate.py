from __future__ import annotations

import json
from dataclasses import replace

import pytest

from adapter.cli.main import main
from adapter.config import Config
from adapter.errors import ConfigError
from adapter.migrate import migrate
from adapter.plan import make_plan
from adapter.prepare import prepare
from tests.conftest import ROOT
from tests.golden_cases import NAMES, recording

RUN_CONFIGS = [ROOT / "configs/run/digits.yaml", *sorted((ROOT / "tests/runner/recorded").glob("*.json"))]

OLD = """\
# My config, since 2021
task: text-classification   # the task
base: &base
  interval: 2
  # shared
  by_epoch: true
train:
  batch_size: 32  # per GPU
  max_epochs: 3
  optimizer:
    type: 'SGD'
    lr: 1e-2  # tuned
  # how we step
  optimizer_hook:
    type: OptimizerHook
    cumulative_iters: 2   # two
  hooks:
    # keep few
    - type: CheckpointHook  # saver
      max_checkpoint_num: 2  # disk is small
    # timer
    - type: IterTimerHook
    # look
    # often
    - type: EvaluationHook
      <<: *base
    - {type: TextLoggerHook, interval: 1}  # every line
evaluation:
  metrics: [accuracy]   # only one
# the end
"""
NEW = """\
# My config, since 2021
task: text-classification  # the task
base: &base
  interval: 2
  # shared
  by_epoch: true
train:
  max_epochs: 3
  optimizer:
    type: 'SGD'
    lr: 1e-2  # tuned
    # how we step
    options:
      cumulative_iters: 2  # two
  hooks:
    # timer
    - type: IterTimerHook
  dataloader:
    batch_size_per_gpu: 32  # per GPU
  logging: {interval: 1}  # every line
  checkpoint:
    # keep few
    period:  # saver
      max_checkpoint_num: 2  # disk is small
evaluation:
  metrics: [accuracy]  # only one
  # look
  # often
  period:
    <<: *base
# the end
"""


def plan_of(text, suffix):
    """The plan, without the keys it was made from."""
    plan = make_plan(prepare(Config.from_string(text, suffix)).config)
    hooks = tuple((hook.type, hook.args, hook.steps) for hook in plan.hooks)
    return replace(plan, hooks=()), hooks


def written(folder, text, suffix=".yaml"):
    path = folder / f"old{suffix}"
    path.write_text(text)
    return path


def test_comments_quotes_and_anchors_stay(tmp_path):
    assert migrate(written(tmp_path, OLD)).text == NEW


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
@pytest.mark.parametrize("name", NAMES)
def test_the_plan_stays(name, suffix, tmp_path):
    text = json.dumps(recording(name)["cfg"], indent=4)  # which is YAML too
    new = migrate(written(tmp_path, text, suffix)).text
    assert plan_of(new, suffix) == plan_of(text, suffix)


@pytest.mark.parametrize("text", [NEW, *(json.dumps(recording(name)["cfg"]) for name in NAMES)])
def test_a_second_time_changes_nothing(text, tmp_path):
    once = migrate(written(tmp_path, text)).text
    again = migrate(written(tmp_path, once))
    assert (again.text, again.moves) == (once, ())


@pytest.mark.parametrize(
    ("train", "expected"),
    [
        ({"hooks": [{"type": "EvaluationHook"}]}, {}),
        ({"hooks": []}, {"hooks": []}),
        (
            {"hooks": [{"type": "CheckpointHook", "interval": 3}], "checkpoint": {"period": {"save_last": False}}},
            {"checkpoint": {"period": {"save_last": False, "interval": 1}}},
        ),
        (
            {"hooks": [{"type": "EarlyStopHook", "metric_key": "f1"}, {"type": "MyHook", "a": [1]}]},
            {"hooks": [{"type": "EarlyStopHook", "metric_key": "f1"}, {"type": "MyHook", "a": [1]}]},
        ),
        ({"optimizer_hook": {"type": "OptimizerHook"}}, {"optimizer_hook": {"type": "OptimizerHook"}}),
        (
            {
                "optimizer": {"type": "SGD", "options": {"cumulative_iters": 9}},
                "optimizer_hook": {"type": "OptimizerHook", "grad_clip": {"max_norm": 1.0}},
            },
            {"optimizer": {"type": "SGD", "options": {"grad_clip": {"max_norm": 1.0}}}},
        ),
        (
            {
                "lr_scheduler": {"type": "StepLR", "step_size": 1},
                "lr_scheduler_hook": {"type": "LrSchedulerHook", "by_epoch": False},
            },
            {"lr_scheduler": {"type": "StepLR", "step_size": 1, "options": {"by_epoch": False}}},
        ),
        (
            {
                "lr_scheduler": {"type": "ReduceLROnPlateau"},
                "lr_scheduler_hook": {"type": "PlateauLrSchedulerHook", "metric_key": "f1"},
            },
            {
                "lr_scheduler": {"type": "ReduceLROnPlateau"},
                "lr_scheduler_hook": {"type": "PlateauLrSchedulerHook", "metric_key": "f1"},
            },
        ),
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_what_moves(train, expected, suffix, tmp_path):
    text = json.dumps({"train": train})
    assert Config.from_string(migrate(written(tmp_path, text, suffix)).text, suffix).train == expected


def test_a_type_that_comes_from_a_merge_is_written_out(tmp_path):
    text = "b: &b {type: TextLoggerHook, interval: 2}\ntrain:\n  hooks:\n  - <<: *b\n    out_dir: logs\n"
    assert migrate(written(tmp_path, text)).text == (
        "b: {type: TextLoggerHook, interval: 2}\ntrain:\n  logging:\n    interval: 2\n    out_dir: logs\n"
    )


def test_a_hash_in_a_value_is_no_comment(tmp_path):
    text = "train:\n  batch_size: 2\n  a: 'x # y'  # z\n  b: |\n    # text\n  c: d#e\n"
    assert migrate(written(tmp_path, text)).text == (
        "train:\n  a: 'x # y'  # z\n  b: |\n    # text\n  c: d#e\n  dataloader:\n    batch_size_per_gpu: 2\n"
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("c.py", "train = {}", "a Python file computes its values"),
        ("c.yaml", "train: [", "c.yaml"),
    ],
)
def test_refused(name, text, message, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=message):
        migrate(tmp_path / name)


@pytest.mark.parametrize("path", RUN_CONFIGS, ids=lambda path: path.stem)
def test_a_run_config_stays_as_it_is(path, tmp_path, capsys):
    """Two spellings of its keys are in use."""
    text = path.read_text()
    text = text if path.suffix == ".yaml" else json.dumps(json.loads(text)["cfg"], indent=1)
    text = text.replace("num_worker", "num_workers")
    assert main(["migrate", str(written(tmp_path, text, path.suffix))]) == 0
    out, err = capsys.readouterr()
    assert out == text
    assert err == "nothing to move: the file is on today's keys already\n"


def test_the_command_prints_the_file_and_says_what_moved(tmp_path, capsys):
    assert main(["migrate", str(written(tmp_path, OLD))]) == 0
    out, err = capsys.readouterr()
    assert out == NEW
    assert "train.hooks[0] moved to train.checkpoint.period" in err.splitlines()


def test_the_command_writes_over_the_file_itself(tmp_path, capsys):
    path = written(tmp_path, OLD)
    assert main(["migrate", str(path), "-o", str(path)]) == 0
    assert path.read_text() == NEW
    assert main(["migrate", str(path), "-o", str(path)]) == 0
    assert "nothing to move" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "out"), [("a.yaml", "b.json"), ("a.json", "b.yaml"), ("a.json", "b.json")])
def test_the_new_file_is_of_the_kind_its_name_says(name, out, tmp_path, capsys):
    old = {"train": {"hooks": [{"type": "CheckpointHook", "interval": 2}], "max_epochs": 1}, "model": {"type": "x"}}
    Config(old).dump(tmp_path / name)
    assert main(["migrate", str(tmp_path / name), "-o", str(tmp_path / out)]) == 0
    text = (tmp_path / out).read_text()
    assert text.startswith("{") == out.endswith(".json")
    assert Config.from_file(tmp_path / out) == Config.from_string(
        migrate(tmp_path / name).text, f".{name.rpartition('.')[2]}"
    )


def test_a_file_of_another_kind_is_refused(tmp_path, capsys):
    Config({"train": {}}).dump(tmp_path / "a.yaml")
    assert main(["migrate", str(tmp_path / "a.yaml"), "-o", str(tmp_path / "b.toml")]) == 2
    assert "cannot write a config as '.toml'" in capsys.readouterr().err
    assert not (tmp_path / "b.toml").exists()


@pytest.mark.parametrize("command", ["migrate", "convert", "plot"])
def test_a_folder_is_no_file_to_write(command, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "config.yaml", "-o", str(tmp_path)])
    assert stop.value.code == 2
    assert f"'{tmp_path}' is a folder; name a file" in capsys.readouterr().err


def test_what_an_anchor_shares_may_change_in_one_place(tmp_path, capsys):
    path = tmp_path / "a.yaml"
    path.write_text("train: &a {hooks: [{type: CheckpointHook}], max_epochs: 1}\nother: *a\n")
    assert main(["migrate", str(path), "-o", str(tmp_path / "b.yaml")]) == 0
    assert "written anew, without comments" in capsys.readouterr().err
    assert Config.from_file(tmp_path / "b.yaml") == {
        "train": {"checkpoint": {"period": {}}, "max_epochs": 1},
        "other": {"hooks": [{"type": "CheckpointHook"}], "max_epochs": 1},
    }
