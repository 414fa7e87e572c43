"""Files that are there whole or not at all: written aside and renamed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

PART_SUFFIX = ".part"  # of a file that is being written
UMASK = os.umask(0)  # the only way to read it is to set it
os.umask(UMASK)


class WriteError(OSError):
    """A file cannot be written; the text is a sentence with its name and the reason."""


@contextlib.contextmanager
def refused_by_name(path: Path) -> Iterator[None]:
    """Within it, what the system says against writing names the file that was to be written.

    Raises:
        WriteError: A full disk, missing rights, no folder.
    """
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        place = Path(os.path.abspath(path)).parent
        if error.filename and Path(os.path.abspath(error.filename)).parent not in (place, *place.parents):
            raise  # of another file, which was read for this one
        raise WriteError(f"cannot write '{path}': {error.strerror or error}") from error


@contextlib.contextmanager
def written_aside(path: Path) -> Iterator[IO[bytes]]:
    """A file opened beside ``path`` that takes its place, whole, when the block ends without an error.

    A process killed at any moment leaves the earlier file, or the new one, never a part. Whether it survives the death
    of the machine, too, is up to ``flush.sync``. What is no file on a disk (``/dev/stdout``, a pipe) is written to.

    Raises:
        WriteError: The disk is full, or the place cannot be written to.
    """
    with refused_by_name(path):
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as stream:
                yield stream
        else:
            yield from _aside(path)


@contextlib.contextmanager
def folder_aside(path: Path) -> Iterator[Path]:
    """A folder made beside ``path`` that takes its place, whole, when the block ends without an error.

    Args:
        path: A folder that is absent or empty.

    Raises:
        WriteError: The disk is full, or the place cannot be written to.
    """
    with refused_by_name(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=PART_SUFFIX, dir=path.parent))
        try:
            yield temporary
            temporary.chmod(0o777 & ~UMASK)  # mkdtemp lets nobody else in
            temporary.rename(path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def _aside(path: Path) -> Iterator[IO[bytes]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART_SUFFIX, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            with contextlib.suppress(OSError):  # a file system without locks: its leftovers stay
                _lock(file)
            yield file
            os.chmod(temporary, 0o666 & ~UMASK)  # mkstemp lets nobody else read
            file.flush()
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def write_text(text: str, path: Path) -> None:
    """Write UTF-8 text to ``path`` whole or not at all."""
    with written_aside(path) as file:
        file.write(text.encode())


def close_quietly(file: IO[Any]) -> None:
    """Close a file whose last bytes may not fit on the disk; that has been reported."""
    with contextlib.suppress(OSError):
        file.close()


def remove_parts(folder: Path) -> None:
    """Delete what processes that were killed while they wrote have left in a folder; not what is being written now."""
    for path in folder.glob(f".*{PART_SUFFIX}"):
        with contextlib.suppress(OSError), path.open("rb") as file:
            _lock(file)
            path.unlink()


def _lock(file: IO[bytes]) -> None:
    """Hold a file as long as it is open; the lock of a process that dies is gone.

    Raises:
        BlockingIOError: Another process holds it.
    """
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
