"""What the source project's trainer was recorded to do, and each rate and loss on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapter import Hook, Priority, pipeline
from tests.runner import tiny

pytestmark = pytest.mark.usefixtures("one_thread")

NAMES = sorted(path.stem for path in tiny.RECORDED.glob("*.json"))


class Steps(Hook):
    """Notes the loss of each iteration, and the rates it was stepped with."""

    PRIORITY = Priority.HIGHEST

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    def after_train_iter(self, trainer: Any) -> None:
        rates = [group["lr"] for group in trainer.optimizer.param_groups]
        self.seen.append({"loss": trainer.train_outputs["loss"].item(), "lrs": rates})


def near(want: Any) -> Any:
    """The same value, with every number inside it compared to 1e-5; numbers that are text, too."""
    if isinstance(want, dict):
        return {key: near(value) for key, value in want.items()}
    if isinstance(want, list):
        return [near(value) for value in want]
    return pytest.approx(float(want), rel=1e-5, abs=1e-5)


def numbers(row: dict[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in row.items()}


@pytest.mark.parametrize("name", NAMES)
def test_equals_the_recording(name: str, tmp_path: Path) -> None:
    want = json.loads((tiny.RECORDED / f"{name}.json").read_text())
    want["cfg"]["run"]["output_dir"] = str(tmp_path)
    trainer = pipeline.build(tiny.request(tmp_path, want["cfg"]))
    steps = Steps()
    trainer.register_hook(steps)
    trainer.train()
    assert steps.seen == near(want["steps"])
    assert [numbers(row) for row in tiny.log_of(trainer)] == near(want["log_txt"])
    folder = Path(trainer.work_dir)
    assert sorted(path.name for path in folder.iterdir()) == want["files"]
    for file, keys in want["checkpoints"].items():
        assert sorted(tiny.saved(trainer, file.removesuffix(".pth"))) == sorted([*keys, "adapter"])
    last = tiny.saved(trainer, f"checkpoint_{want['cfg']['run']['max_epoch'] - 1}")["model"]
    assert {name: value.double().flatten().tolist() for name, value in last.items()} == near(want["final"])
