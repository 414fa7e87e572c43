from __future__ import annotations

import io
import re
import sys

import pytest

from adapter.lightning.engine import build_trainer
from adapter.lightning.progress import ProgressBar
from tests.runs import make


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def screen(tmp_path, monkeypatch):
    """What a terminal shows of a run of 2 epochs of 12 iterations that logs every fourth."""
    shown = Screen()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(sys, "stdout", shown)
    make(tmp_path, [{"type": "TextLoggerHook", "interval": 4}], samples=48).train()
    return re.split(r"[\r\n]", shown.getvalue())


def test_one_bar_an_epoch(screen):
    bars = [line for line in screen if re.search(r"Epoch \d: ", line)]
    assert {re.search(r"Epoch (\d)", line).group(1) for line in bars} == {"1", "2"}
    assert any("12/12" in line for line in bars)


def test_shows_the_losses_of_the_last_log_line(screen):
    assert [line for line in screen if re.search(r"Epoch 2: .*12/12.*loss=\d\.\d+", line)]


def test_an_evaluation_has_no_bar_of_its_own(tmp_path, monkeypatch):
    shown = Screen()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(sys, "stdout", shown)
    make(tmp_path, [{"type": "EvaluationHook"}]).train()
    assert "3/3" in shown.getvalue()
    assert "Validation" not in shown.getvalue()
    assert "2/2" not in shown.getvalue()


def test_log_lines_are_whole(screen):
    lines = [line for line in screen if " - INFO - epoch [" in line]
    assert len(lines) == 6
    assert all(re.match(r"\d{4}-\d\d-\d\d ", line.lstrip("\x1b[A")) for line in lines)


def test_metrics(tmp_path):
    owner = make(tmp_path)
    owner.last_losses = {"loss": 0.5}
    assert ProgressBar(owner).get_metrics(build_trainer(owner), owner.module) == {"loss": 0.5}
