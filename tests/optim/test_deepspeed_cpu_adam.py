from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
from adapter.config import Config
from adapter.errors import ConfigError
from adapter.optim.build import try_optimizer
from adapter.plan import Component
try:
    try_optimizer(Component("DeepSpeedCPUAdam", {"lr": 0.1}, "train.optimizer"))
except ConfigError as error:
    print(error)
"""


def test_a_step_that_cannot_be_compiled_is_a_problem_of_the_config(tmp_path):
    """Where there is no compiler; with one it takes a minute or two."""
    broken = {"CXX": "false", "PATH": str(tmp_path), "TORCH_EXTENSIONS_DIR": str(tmp_path), "DS_ACCELERATOR": "cpu"}
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, **broken}, capture_output=True, text=True, check=True
    )
    assert "train.optimizer.type: DeepSpeedCPUAdam cannot be compiled here" in found.stdout
    assert "fix: install a C++ compiler and ninja, or use AdamW" in found.stdout
