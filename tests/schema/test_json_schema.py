from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from adapter.cli.main import main
from adapter.config import Config
from adapter.schema.field import documented_keys
from adapter.schema.hooks import ARGUMENTS
from adapter.schema.json_schema import json_schema
from adapter.schema.train import Train

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture(scope="module")
def validator():
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.name)
def test_configs_are_valid(validator, path):
    assert [error.message for error in validator.iter_errors(Config.from_file(path).to_dict())] == []


@pytest.mark.parametrize(
    ("config", "place", "message"),
    [
        ({"train": {"max_epochs": "3"}}, "train.max_epochs", "'3' is not of type 'integer', 'null'"),
        ({"train": {"max_epochs": 0}}, "train.max_epochs", "0 is less than the minimum of 1"),
        ({"train": {"optimizer": {"lr": 0.1}}}, "train.optimizer", "'type' is a required property"),
        (
            {"train": {"checkpoint": {"best": {"metric_key": "f1", "rule": "most"}}}},
            "train.checkpoint.best.rule",
            "'most' is not one of ['max', 'min']",
        ),
        ({"train": {"hooks": [{"interval": 1}]}}, "train.hooks.0", "'type' is a required property"),
        (
            {"train": {"hooks": [{"type": "EarlyStopHook", "metric_key": 3}]}},
            "train.hooks.0.metric_key",
            "3 is not of type 'string'",
        ),
        ({"evaluation": {"metrics": [3]}}, "evaluation.metrics.0", "3 is not of type"),
        (
            {"evaluation": {"dataloader": {"batch_size_per_gpu": 0}}},
            "evaluation.dataloader.batch_size_per_gpu",
            "0 is less than the minimum of 1",
        ),
    ],
)
def test_an_error_is_found_at_its_key(validator, config, place, message):
    errors = list(validator.iter_errors(config))
    assert len(errors) == 1
    assert ".".join(map(str, errors[0].absolute_path)) == place
    assert message in errors[0].message


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"my_own": {"key": 1}},
        {"train": {"hooks": [{"type": "MyHook", "anything": [1]}]}},
        {"evaluation": {"metrics": "accuracy"}},
        {"evaluation": {"metrics": ["accuracy", {"type": "BinaryAUROC", "thresholds": 5}]}},
        {"train": {"optimizer": {"type": "SGD", "lr": 1, "momentum": 0.9, "options": {"grad_clip": {"max_norm": 2}}}}},
    ],
)
def test_what_a_run_takes_is_valid(validator, config):
    assert list(validator.iter_errors(config)) == []


def test_a_key_carries_what_is_known_of_it():
    train = json_schema()["$defs"]["Train"]["properties"]
    assert set(train) == set(documented_keys(Train))
    assert train["max_epochs"] == {
        "title": "Max epochs",
        "description": "Epochs to train; the keyword max_epochs wins. In epochs.",
        "unit": "epochs",
        "type": ["integer", "null"],
        "minimum": 1,
    }
    assert train["work_dir"]["default"] == "./work_dir"
    hook = train["hooks"]["items"]["then"]
    assert hook["properties"]["type"]["examples"] == list(ARGUMENTS)


def test_the_command_prints_it(capsys):
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()
