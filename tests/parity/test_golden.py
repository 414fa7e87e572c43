"""Replays what ModelScope's trainer was recorded to do; between machines the last digits may differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapter import Hook, build_trainer
from tests.parity.golden.cases import CASES
from tests.parity.play import play

pytestmark = pytest.mark.usefixtures("one_thread")

GOLDEN = Path(__file__).parent / "golden"
# name in a recording -> name in what `play` returns
FIELDS = {
    "steps": "steps",
    "final": "weights",
    "log_json": "log_json",
    "metric_values": "metric_values",
    "hook_order": "hook_order",
    "files": "files",
    "output_files": "folders",
}
# stages the trainer recorded here never fires, and ours does
ONLY_OURS = {"before_val_epoch", "before_val_iter", "after_val_iter", "after_val_epoch"}


def near(want: Any) -> Any:
    """The same value, with every float inside it compared to 1e-5."""
    if isinstance(want, dict):
        return {key: near(value) for key, value in want.items()}
    if isinstance(want, list):
        return [near(value) for value in want]
    return pytest.approx(want, rel=1e-5, abs=1e-5) if isinstance(want, float) else want


@pytest.mark.parametrize("name", CASES)
def test_equals_the_recording(name: str) -> None:
    want = json.loads((GOLDEN / f"{name}.json").read_text())
    got = play(name, build_trainer, Hook)
    for recorded, field in FIELDS.items():
        assert got[field] == near(want[recorded]), field
    assert [event for event in got["events"] if event[0] not in ONLY_OURS] == want["events"]
    assert got["checkpoint"] == {key: sorted(want["checkpoint"][key]) for key in got["checkpoint"]}


def test_every_recording_has_its_case() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(CASES)
