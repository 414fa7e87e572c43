"""Two processes: one folder, and an evaluation in which each sample counts once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from adapter import pipeline
from tests.conftest import Adapter
from tests.runner import tiny


def test_two_processes_write_one_run(tmp_path: Path, adapter: Adapter) -> None:
    given = tiny.config(tmp_path, max_epoch=1)
    request = tiny.request(tmp_path, given)
    words = ["--import", "tests.runner.tiny", "--trainer.devices=2", "--trainer.accelerator=cpu"]
    done = adapter("fit", request.path, *words, env={"MASTER_PORT": str(20000 + os.getpid() % 10000)})
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Averaged stats") == 1
    (run,) = (tmp_path / "out").iterdir()
    text = (run / "log.txt").read_text()
    _, evaluation = (json.loads(line) for line in text[text.index("\n}\n") + 3 :].splitlines())
    alone = pipeline.validate(request, str(run / "checkpoint_0.pth"))
    assert alone["agg_metrics"] == pytest.approx(evaluation["val_agg_metrics"])
