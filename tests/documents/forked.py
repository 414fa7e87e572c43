"""Commands in processes that start at once: copies of one that has imported everything and done nothing."""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
import runpy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import datasets

LIMIT = 120  # seconds that a command may take, on a busy machine
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.documents.everything"])


@dataclass(frozen=True)
class Ended:
    """A command that has ended: its exit status, and what it printed to either stream, in order."""

    status: int
    text: str


def run(*commands: Sequence[str], folder: Path, variables: Sequence[Mapping[str, str]] = ({},)) -> Ended:
    """Run commands side by side: ``adapter ...``, ``python FILE ...``.

    Args:
        commands: The words of each.
        folder: Where they run.
        variables: On top of the environment, of each.

    Returns:
        The highest status, and what all of them printed.
    """
    with tempfile.NamedTemporaryFile("r") as output:
        processes = [
            CONTEXT.Process(target=_child, args=(list(words), str(folder), output.name, dict(own)))
            for words, own in zip(commands, variables, strict=True)
        ]
        try:
            for process in processes:
                process.start()
            for process in processes:
                process.join(LIMIT)
            text = output.read()
            assert all(process.exitcode is not None for process in processes), f"still runs: {commands}\n{text}"
        finally:
            for process in processes:
                process.kill()
        return Ended(max(abs(process.exitcode or 0) for process in processes), text)


def _child(words: list[str], folder: str, output: str, variables: dict[str, str]) -> None:
    """What a process does: become the command."""
    importlib.import_module("tests.documents.everything")  # where the server could not

    handle = os.open(output, os.O_WRONLY | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(handle, stream)
    os.chdir(folder)
    os.environ.update(variables)
    sys.orig_argv = []
    datasets.config.HF_DATASETS_CACHE = Path(folder, "cache")
    program, *rest = words
    if program == "adapter":
        from adapter.cli.main import main

        sys.argv = words
        # several processes start `python -m` what the first was started with
        sys.modules["__main__"].__spec__ = importlib.util.find_spec("adapter.__main__")
        sys.exit(main(rest))
    sys.argv = rest
    sys.path[:0] = [str(Path(rest[0]).parent)]
    runpy.run_path(rest[0], run_name="__main__")
