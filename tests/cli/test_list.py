"""``adapter list``."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapter.cli.list import kinds
from adapter.cli.main import main
from adapter.registry import HOOKS
from tests.conftest import Adapter

KINDS = ["hook", "metric", "optimizer", "scheduler", "trainer", "model", "dataset", "preprocessor", "strategy"]
KINDS += ["callback", "run-model", "run-dataset", "run-processor", "run-task", "run-lr_scheduler"]
OWN = '''
"""Hooks of my own."""
from adapter import Hook, HOOKS

@HOOKS.register_module(module_name="confetti")
class Confetti(Hook):
    """Throws confetti."""
'''


def test_every_registry_is_a_kind() -> None:
    assert list(kinds()) == KINDS


def test_lists_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert [line.partition(":")[0] for line in out.splitlines() if not line.startswith(" ")] == KINDS


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("hook", {"OptimizerHook", "TextLoggerHook"}),
        ("metric", {"accuracy", "seq-cls-metric", "loss-metric", "Accuracy"}),
        ("optimizer", {"SGD", "AdamW"}),
        ("scheduler", {"StepLR", "LinearWarmup"}),
        ("trainer", {"trainer"}),
        ("model", {"mlp-classifier"}),
        ("dataset", {"csv", "json", "parquet", "text"}),
        ("callback", {"EarlyStopping"}),
        ("run-task", {"classification", "image2prompt"}),
    ],
)
def test_lists_one_kind(kind: str, names: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", kind]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert listed >= names
    assert listed == set(kinds()[kind].names())


def test_says_what_a_hook_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "hook"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line.split()) > 3 and line.endswith(".") for line in lines), lines


def test_lists_what_an_imported_file_registers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "confetti_hooks.py"
    own.write_text(OWN)
    try:
        assert main(["list", "hook", "--import", str(own)]) == 0
        assert "confetti" in capsys.readouterr().out
    finally:
        HOOKS.modules["default"].pop("confetti", None)


def test_lists_the_trainer_with_what_it_does(adapter: Adapter) -> None:
    """In a process of its own, which has not imported the trainer."""
    done = adapter("list", "trainer")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[:2] for line in done.stdout.splitlines()][-1] == ["trainer", "Trains"]


@pytest.mark.parametrize(
    ("kind", "bases"),
    [("optimizer", {"Optimizer"}), ("scheduler", {"LRScheduler"}), ("metric", {"Metric", "MetricCollection"})],
)
def test_leaves_out_what_only_is_to_be_derived_from(
    kind: str, bases: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", kind]) == 0
    assert not bases & {line.split()[0] for line in capsys.readouterr().out.splitlines()}
