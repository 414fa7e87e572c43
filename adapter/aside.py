"""Files that are there whole or not at all: written aside and renamed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

UMASK = os.umask(0)  # the only way to read it is to set it
os.umask(UMASK)


@contextlib.contextmanager
def written_aside(path: Path) -> Iterator[IO[bytes]]:
    """A file opened beside ``path`` that takes its place, whole, when the block ends without an error.

    A process killed at any moment leaves the earlier file, or the new one, never a part. Whether it survives the death
    of the machine, too, is up to ``flush.sync``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(temporary, 0o666 & ~UMASK)  # mkstemp lets nobody else read
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def write_text(text: str, path: Path) -> None:
    """Write UTF-8 text to ``path`` whole or not at all."""
    with written_aside(path) as file:
        file.write(text.encode())
