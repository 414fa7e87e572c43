"""`adapter run` behaves as `python` does, but for ModelScope's names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.modelscope_names.test_scripts import python


@pytest.mark.parametrize(
    ("script", "status", "out", "error"),
    [
        ("import sys\nprint(__name__, sys.argv[1:])", 0, "__main__ ['--lr', '1', '-x']\n", ""),
        ("import sys\nsys.exit(3)", 3, "", ""),
        ("import beside\nprint(beside.VALUE)", 0, "5\n", ""),
        ("def fails():\n    raise KeyError('gone')\nfails()", 1, "", 'line 2, in fails\n    raise KeyError(\'gone\')'),
        ("from modelscope.utils.constant import ModeKeys\nprint(ModeKeys.TRAIN)", 0, "train\n", ""),
        ("\nfrom modelscope.trainers import build_trainr", 2, "", "train.py:2: 1 problem\n"),
        ("\nfrom modelscope.trainers import build_trainr", 2, "", "did you mean 'build_trainer'?"),
        ("from modelscope.pipelines import pipeline", 2, "", "'modelscope.pipelines' is not among ModelScope's names"),
    ],
)  # fmt: skip
def test_a_script(script: str, status: int, out: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(script)
    (tmp_path / "beside.py").write_text("VALUE = 5")
    done = python("-m", "adapter", "run", str(tmp_path / "train.py"), "--lr", "1", "-x")
    assert (done.returncode, done.stdout) == (status, out)
    assert error in done.stderr


def test_no_script() -> None:
    done = python("-m", "adapter", "run", "nowhere.py")
    assert done.returncode == 2
    assert done.stderr == "nowhere.py: 1 problem\n  no such file\n      fix: name a Python script\n"
