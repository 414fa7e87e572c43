from __future__ import annotations

import pytest

from adapter.config import Config, parse_overrides
from adapter.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("train.max_epochs=3", "train.max_epochs", 3),
        ("train.optimizer.lr=1e-3", "train.optimizer.lr", 0.001),
        ("evaluation.metrics=[accuracy, f1]", "evaluation.metrics", ["accuracy", "f1"]),
        ("model={type: mlp, sizes: [1, 2]}", "model", {"type": "mlp", "sizes": [1, 2]}),
        ("train.dataloader.shuffle=false", "train.dataloader.shuffle", False),
        ("name=yes", "name", "yes"),
        ("name='12'", "name", "12"),
        ("expr=a=b", "expr", "a=b"),
        ("train.resume=", "train.resume", None),
        ("hooks[0].interval = 2", "hooks[0].interval", 2),
        ("dir=${root}/x", "dir", "${root}/x"),
    ],
)
def test_values_are_yaml(text, key, value):
    assert parse_overrides([text]) == {key: value}


def test_the_last_of_a_key_wins():
    assert parse_overrides(["a=1", "b=2", "a=3"]) == {"a": 3, "b": 2}


def test_every_malformed_override_is_reported():
    with pytest.raises(ConfigError) as caught:
        parse_overrides(["a=1", "max_epochs", "=3", "a..b=1", "--lr=1", "m=[1,", "p=@x"])
    assert len(caught.value.problems) == 6
    text = str(caught.value)
    assert "'max_epochs' is not an override" in text
    assert "such as train.max_epochs=3" in text
    assert "m: the value is not valid YAML" in text


def test_overrides_merge_into_a_config():
    config = Config({"train": {"hooks": [{"type": "Save", "interval": 1}]}})
    config.merge_from_dict(parse_overrides(["train.hooks.Save.interval=2", "train.max_epochs=3"]))
    assert config == {"train": {"hooks": [{"type": "Save", "interval": 2}], "max_epochs": 3}}
