from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapter import ConfigError
from adapter.hooks.swift import SwiftHook
from tests.small_runs import build, settings

LORA = {"type": "lora", "target_modules": ["hidden"], "r": 2}


def test_it_writes_the_adapters_alone(tmp_path: Path) -> None:
    tuners = {"one": LORA, "two": {**LORA, "r": 3}}
    build(tmp_path, settings(train__hooks=[{"type": "SwiftHook", "efficient_tuners": tuners}])).train()
    folder = tmp_path / "work" / "adapters"
    assert sorted(path.name for path in folder.iterdir()) == ["one", "two"]
    assert [json.loads((folder / name / "adapter_config.json").read_text())["r"] for name in ("one", "two")] == [2, 3]
    assert (folder / "one" / "adapter_model.safetensors").stat().st_size > 0


def test_without_adapters_it_does_nothing(tmp_path: Path) -> None:
    build(tmp_path, settings(train__hooks=[{"type": "SwiftHook"}])).train()
    assert not (tmp_path / "work" / "adapters").exists()


def test_a_mistake_is_found_where_it_is_written(tmp_path: Path) -> None:
    config = settings(train__hooks=[{"type": "SwiftHook", "efficient_tuners": {**LORA, "rank": 3}}])
    with pytest.raises(ConfigError, match=r"train\.hooks\[0\]\.efficient_tuners\.rank: LoraConfig takes no argument"):
        build(tmp_path, config)


def test_it_reads_its_argument_once_made() -> None:
    assert list(SwiftHook({"mine": LORA}).tuners) == ["mine"]
    assert SwiftHook().tuners == {}
