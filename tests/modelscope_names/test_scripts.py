"""Scripts written against ModelScope's documented API run unchanged, and as they do with the adapter's own names."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adapter.modelscope_names.table import HOMES

SCRIPTS = Path(__file__).parent / "scripts"
ROOT = Path(__file__).parents[2]
RUNS = [("by_hand",), ("finetune", "modify"), ("finetune", "args"), ("finetune", "child")]


def python(*words: str, program: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """Run Python on some words, with the repository on its path."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.run([program, *words], capture_output=True, text=True, env=env, check=False)


def seen_by(words: list[str], way: tuple[str, ...], folder: Path) -> dict[str, Any]:
    """What a script wrote down; ``words`` are those before its own arguments."""
    folder.mkdir()
    done = python(*words, *way, str(folder))
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "seen.json").read_text())


def with_own_names(script: str) -> str:
    """A script that imports the adapter's names from where they are."""

    def rewritten(line: re.Match[str]) -> str:
        homes = [(name, *HOMES[name].split(":")) for name in line[1].split(", ")]
        return "\n".join(f"from {home} import {(*own, name)[0]} as {name}" for name, home, *own in homes)

    return re.sub(r"^from modelscope[\w.]* import (.*)$", rewritten, script, flags=re.MULTILINE)


@pytest.mark.parametrize("run", RUNS, ids="-".join)
def test_same_as_the_direct_run(run: tuple[str, ...], tmp_path: Path) -> None:
    name, *way = run
    script = SCRIPTS / f"{name}.py"
    direct = tmp_path / "direct.py"
    direct.write_text(with_own_names(script.read_text()))
    assert not re.search(r"^(from|import) modelscope\b", direct.read_text(), re.MULTILINE)
    served = seen_by(["-m", "adapter", "run", str(script)], tuple(way), tmp_path / "served")
    assert served == seen_by([str(direct)], tuple(way), tmp_path / "own")
    assert len({tuple(step) if isinstance(step, list) else step for step in served["seen"]}) > 4
