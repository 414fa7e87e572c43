"""The short form of the stress script: one killed run of each kind that has most to remember."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT


def test_killed_runs_go_on_as_if_never_killed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.stress.resume_kills", "--runs", "10", "--seed", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.stdout.endswith("10 of 10 equal\n"), done.stdout + done.stderr[-3000:]
