from __future__ import annotations

import pytest

from adapter.dialects import detect, run
from adapter.schema.locate import locate


@pytest.mark.parametrize(
    ("config", "dialect"),
    [
        ({"run": {}, "model": {}}, "run"),
        ({"datasets": {}}, "run"),
        ({"env": {"cache_root": "x"}}, "run"),
        ({"train": {}, "run": "my own"}, "modelscope"),
        ({"dataset": {}, "model": {}}, "modelscope"),
        ({"dataset": {"train_cfg": {}}, "model": {}}, "run"),
        ({"dataset": {"train_cfg": {}}, "train": {}}, "modelscope"),
        ({}, "modelscope"),
    ],
)
def test_detects_the_schema(config, dialect):
    assert detect(config) == dialect


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("run.max_epoch", "run.max_epoch"),
        ("model.arch", "model"),
        ("run.deepspeed_config.fp16.enabled", "run.deepspeed_config"),
        ("run.train_splits[0]", "run.train_splits"),
    ],
)
def test_an_entry_covers_the_keys_below_it(path, key):
    assert run.move_of(path).key == key


@pytest.mark.parametrize("path", ["run.max_epochs", "runs", "run.wandb_log"])
def test_unknown_keys_are_in_no_entry(path):
    assert run.move_of(path) is None


@pytest.mark.parametrize("target", sorted({to for _, to, _ in run.TABLE.values() if to and not to.startswith("run.")}))
def test_targets_are_documented_keys(target):
    assert locate({}, target.replace("train.hooks.DeepspeedHook.config", "train.hooks")).known


def test_only_moved_and_same_keys_have_a_target():
    assert all(reason for fate, to, reason in run.TABLE.values() if not to)
    assert all(not to for fate, to, _ in run.TABLE.values() if fate == "dropped")
