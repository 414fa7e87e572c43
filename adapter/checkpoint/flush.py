"""Bringing written files onto the disk while training goes on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any


class Flusher:
    """Syncs files to the disk in the background.

    A renamed file survives the death of the process as it is; ``fsync`` is for the death of the machine, and waits for
    the disk, at times for seconds. Training need not: what must not happen is that an older checkpoint goes before the
    newer one is on the disk, so whoever deletes waits first.
    """

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._pending: list[Future[None]] = []

    def __getstate__(self) -> dict[str, Any]:
        return {"_threads": None, "_pending": []}  # what is pending stays with the original

    def add(self, paths: Iterable[Path]) -> None:
        """Begin to sync files, where they exist; returns at once."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="adapter-fsync")
        self._pending += [self._threads.submit(sync, path) for path in paths]

    def wait(self) -> None:
        """Wait until every file added so far is on the disk.

        Raises:
            OSError: The disk failed.
        """
        pending, self._pending = self._pending, []
        for future in pending:
            future.result()


def sync(path: Path) -> None:
    """Bring a file's content, and its name in its folder, onto the disk; a file that is not there needs nothing.

    Raises:
        OSError: The disk failed.
    """
    for part in (path, path.parent):
        try:
            handle = os.open(part, os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            os.fsync(handle)
        except OSError:
            if part.is_file():  # some file systems cannot sync a folder
                raise
        finally:
            os.close(handle)
