from __future__ import annotations

import contextlib
import copy
import json
import random

import pytest

from adapter.config.config import Config
from adapter.config.paths import leaves
from adapter.errors import ConfigError
from adapter.explain import explain_plan
from adapter.pipeline import prepare
from tests.conftest import CORPUS
from tests.golden_cases import NAMES, recording

FILES = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.glob("*/*.*"))
CONFIG = {
    "model": {"type": "mlp-classifier", "depth": 2, "width": 3},
    "train": {
        "max_epochs": 3,
        "loging": 1,
        "optimizer": {"type": "SGD", "lr": 0.1},
        "hooks": [{"type": "EvaluationHook"}],
    },
    "evaluation": {"metrics": ["accuracy"]},
}


def explained(config, **options):
    return explain_plan(prepare(config if isinstance(config, Config) else Config(config)), **options)


@pytest.mark.parametrize("name", FILES)
def test_every_key_of_the_corpus_is_accounted_for(name):
    config = Config.from_file(CORPUS / name)
    explanation = explained(config)
    assert [(row.key, row.value) for row in explanation.rows] == list(leaves(config))
    assert all(row.target or row.note for row in explanation.rows)
    assert all(problem.kind in ("missing", "name") for problem in explanation.problems)


def test_files_that_are_not_there_are_told(tmp_path):
    (tmp_path / "train.csv").touch()
    text = json.dumps(
        {
            **CONFIG,
            "model": {"path": "./absent"},
            "dataset": {"train": [{"file": "trian.csv"}, {"file": ["train.csv"]}], "valid": {"file": "val.tsv"}},
        }
    )
    (tmp_path / "config.json").write_text(text)
    problems = {problem.key: problem for problem in explained(Config.from_file(tmp_path / "config.json")).problems}
    assert problems.keys() == {"dataset.train[0].file", "dataset.valid.file", "model.path"}
    assert problems["dataset.train[0].file"].nearest == "train.csv"
    assert "no such file" in problems["dataset.valid.file"].found


def test_hooks_by_stage_in_run_order():
    explanation = explained(CONFIG)
    assert explanation.stages["after_train_epoch"] == [
        "EvaluationHook",
        "LrSchedulerHook",
        "CheckpointHook",
        "TextLoggerHook",
    ]
    assert [(hook["type"], hook["priority"]) for hook in explanation.hooks][:2] == [
        ("OptimizerHook", 40),
        ("EvaluationHook", 50),
    ]


@pytest.mark.parametrize("width", [60, 120, 200])
def test_table_is_aligned_and_free_form_blocks_are_one_row(width):
    lines = explained(CONFIG).as_text(width).splitlines()
    table = lines[2 : lines.index("", 2)]
    assert table[0].index("becomes") == table[2].index("Trainer: max_epochs")
    assert [line.split()[0] for line in table if line[0] != " "] == [
        "key",
        "model",
        "train.max_epochs",
        "train.loging",
        "train.optimizer.type",
        "train.optimizer.lr",
        "train.hooks[0].type",
        "evaluation.metrics[0]",
    ]
    assert "(3 keys)" in table[1]


def test_json_has_every_leaf():
    report = json.loads(explained(CONFIG).as_json())
    assert [row["key"] for row in report["rows"]] == [key for key, _ in leaves(CONFIG)]
    assert report["dialect"] == "modelscope"


def test_what_fit_would_refuse_and_say_is_listed():
    config = {
        "train": {
            "max_epochs": 3,
            "optimizer": {"type": "SDG"},
            "lr_scheduler": {"type": "CosineAnnealingLR", "T_max": 9},
        }
    }
    text = explained(config).as_text()
    assert "fit would refuse this config:\n  train.optimizer.type: unknown optimizer 'SDG'. Did you mean 'SGD'?" in text
    assert "Warnings:\n  train.lr_scheduler.T_max is 9, but the run ends earlier, after 3 epochs" in text


def test_a_refused_value_is_marked_in_its_row():
    explanation = explained({"train": {"optimizer": {"type": "SDG"}}})
    assert explanation.rows[0].fate == "refused"


def test_a_value_of_the_wrong_type_is_an_error():
    with pytest.raises(ConfigError, match=r"train\.max_epochs: found 0"):
        explained({"train": {"max_epochs": 0}})


def test_strict_makes_unread_keys_an_error():
    with pytest.raises(ConfigError, match=r"train\.loging: nothing reads this key\n.*did you mean logging\?"):
        explained(CONFIG, strict=True)


@pytest.mark.parametrize("name", NAMES)
def test_any_damage_is_explained_or_refused(name):
    """Whatever value stands in for one of the recorded config's, nothing but a ConfigError may come of it."""
    config = recording(name)["cfg"]
    draw = random.Random(name)
    for _ in range(60):
        damaged = copy.deepcopy(config)
        parent = damaged
        while True:
            key = draw.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))
            if not isinstance(parent[key], (dict, list)) or not parent[key] or draw.random() < 0.2:
                break
            parent = parent[key]
        parent[key] = draw.choice(
            [None, "x", -1, 0.5, True, [], {}, ["x"], [None], {"x": 1}, {"type": 1}, [{"type": "x"}]]
        )
        with contextlib.suppress(ConfigError):
            assert explained(damaged).as_text()
