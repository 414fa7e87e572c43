"""What a project's script learns of its processes before it trains."""

from __future__ import annotations

from typing import Any

import pytest

from adapter.runner.project_start import init_distributed_mode, is_main_process, main_process
from tests.distributed.launches import LAUNCHER_VARIABLES


@pytest.mark.parametrize(
    ("variables", "noted", "first"),
    [
        ({}, {"distributed": False}, True),
        ({"RANK": "0", "WORLD_SIZE": "4"}, {"distributed": True, "world_size": 4, "gpu": 0}, True),
        (
            {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"},
            {"distributed": True, "world_size": 4, "gpu": 1},
            False,
        ),
    ],
)
def test_processes(
    variables: dict[str, str], noted: dict[str, Any], first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in LAUNCHER_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    run: dict[str, Any] = {"distributed": None}
    init_distributed_mode(run)
    assert run == noted
    assert is_main_process() is first
    assert main_process(lambda value: value)(5) == (5 if first else None)
