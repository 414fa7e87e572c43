"""The version, wherever it is asked for."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys

import pytest

import adapter
from adapter.version import package_version
from tests.conftest import ROOT


def test_it_is_the_distribution_s_or_said_to_be_unknown() -> None:
    declared = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    installed = any(True for _ in importlib.metadata.distributions(name="ms-lightning-adapter"))
    assert adapter.__version__ == package_version() == (declared.group(1) if installed else "unknown")


def test_asking_for_it_loads_no_torch() -> None:
    code = "import sys, adapter; print(adapter.__version__); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [package_version(), "False"]


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'adapter' has no attribute '__versoin__'"):
        adapter.__versoin__  # noqa: B018
