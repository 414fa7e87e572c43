"""What all tests share: folders of test data, and the command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "data" / "corpus"

Adapter = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def adapter(tmp_path: Path) -> Adapter:
    """Run ``python -m adapter`` with these words, in an empty folder."""

    def run(*words: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        variables = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **(env or {})}
        return subprocess.run(
            [sys.executable, "-m", "adapter", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=variables,
            check=False,
        )

    return run


@pytest.fixture
def one_thread() -> Iterator[None]:
    """On several threads torch adds numbers in another order, and recordings were made on one."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def dataset_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what the datasets library caches out of the home folder."""
    folder = tmp_path / "cache"
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", folder)
    return folder
