"""The short form of the stress script: a smaller model, a few kills."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT


def test_a_whole_pair_is_there_after_every_kill() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.stress.save_kills", "--saves", "6", "--megabytes", "20"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.stdout.startswith("6 of 6 kills left a whole pair"), done.stdout + done.stderr[-3000:]
