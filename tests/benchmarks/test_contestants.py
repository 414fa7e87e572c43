"""The benchmarks stay runnable: every workload once, small."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

from adapter import Hook, build_trainer

pytestmark = pytest.mark.usefixtures("one_thread")

Script = Callable[[str], ModuleType]
WORKLOADS = {
    "fit": {"fit_s", "iter_median_us", "iter_mean_us"},
    "evaluate": {"evaluate_s"},
    "save": {"fit_s", "save_s", "save_peak_mib"},
}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Import a script by its bare name, as it is run: a Python without this package has to manage, too."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return importlib.import_module


@pytest.mark.parametrize("workload", WORKLOADS)
def test_hand(workload: str, script: Script) -> None:
    times = script("hand").main(workload, script("workloads").SMALL_SIZE[workload])
    assert set(times) == WORKLOADS[workload]
    assert all(value >= 0 for value in times.values())


@pytest.mark.parametrize("workload", WORKLOADS)
def test_ours(workload: str, script: Script) -> None:
    size = script("workloads").SMALL_SIZE[workload]
    times = script("with_trainer").run(workload, size, build_trainer, Hook)
    assert set(times) - {"build_s"} == WORKLOADS[workload]
    assert all(value >= 0 for value in times.values())


def test_all_contestants_train_the_same(script: Script) -> None:
    one, other = (script("workloads").make("fit", 3) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.model.parameters(), other.model.parameters(), strict=True))
    assert torch.equal(one.train.feat, other.train.feat)


def test_table_has_medians_and_ratios(script: Script) -> None:
    medians = {
        "hand": {"fit_s": 2.0},
        "real": {"fit_s": 4.0, "build_s": 1.0},
        "ours": {"fit_s": 3.0, "build_s": 0.5},
    }
    rows = [line.split() for line in script("contest").table("fit", medians).splitlines()]
    assert rows == [
        ["fit", "hand", "real", "ours", "ours/hand", "ours/real"],
        ["fit_s", "2", "4", "3", "1.50", "0.75"],
        ["build_s", "1", "0.5", "0.50"],
    ]
