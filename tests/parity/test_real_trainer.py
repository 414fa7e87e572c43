"""Runs ModelScope's trainer beside ours on this machine; nothing may differ, not by the last bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.parity.golden.cases import CASES
from tests.parity.test_golden import ONLY_OURS

REAL_PYTHON = os.environ.get("ADAPTER_REAL_PYTHON", "")
ROOT = Path(__file__).parents[2]
FIELDS = (
    "steps",
    "weights",
    "metric_values",
    "hook_order",
    "log_json",
    "log_text",
    "files",
    "folders",
    "checkpoint",
)

pytestmark = pytest.mark.skipif(
    not REAL_PYTHON,
    reason="ADAPTER_REAL_PYTHON names no Python that has modelscope; .ci/run installs one and sets it",
)


def run(which: str, python: str, out: Path) -> dict[str, Any]:
    """What all cases did, in one process of their own."""
    done = subprocess.run(
        [python, "-m", "tests.parity.play", which, str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(out.read_text())


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("parity")
    return run("real", REAL_PYTHON, folder / "real.json"), run("ours", sys.executable, folder / "ours.json")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("field", FIELDS)
def test_same_to_the_last_bit(name: str, field: str, both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    real, ours = (each[name][field] for each in both)
    # as text, in which floats keep every bit, and which tells -0.0 from 0.0 and finds nan equal to nan
    assert json.dumps(ours, sort_keys=True) == json.dumps(real, sort_keys=True)


@pytest.mark.parametrize("name", CASES)
def test_same_stages(name: str, both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    real, ours = (each[name]["events"] for each in both)
    assert [event for event in ours if event[0] not in ONLY_OURS] == real
