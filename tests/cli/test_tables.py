"""What a person sees on a terminal, and a program in a pipe."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from adapter.cli.main import main
from tests.conftest import ROOT


def on_terminal(*words):
    """What `adapter WORDS` writes to a terminal of 110 columns, without colors."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "110", "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "adapter", *words], stdout=theirs, stderr=subprocess.DEVNULL, env=environment
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    assert process.wait() == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", b"".join(parts).decode())


@pytest.mark.parametrize(
    ("words", "heading", "row"),
    [
        (["list", "hook"], r"name +what it is", r"EarlyStopHook +Ends the run"),
        (["list"], r"kind +names", r"optimizer +ASGD, Adadelta"),
        (
            ["explain", str(ROOT / "configs/quickstart.yaml")],
            r"key +value +fate +becomes",
            r"train.max_epochs +10 +same +Trainer: max_epochs",
        ),
    ],
    ids=["list of a kind", "list", "explain"],
)
def test_a_terminal_gets_a_table(words, heading, row):
    text = on_terminal(*words)
    assert re.search(heading, text)
    assert re.search(row, text)
    assert "\u2500\u2500\u2500" in text
    assert all(len(line) <= 110 for line in text.splitlines() if "\u2500" in line)


def test_a_pipe_gets_one_name_a_line(capsys):
    assert main(["list", "hook"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == sorted(line.split()[0] for line in lines)
    assert "\u2500" not in "".join(lines)
