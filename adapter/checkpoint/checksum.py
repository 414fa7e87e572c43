"""A checksum inside a checkpoint file: what the disk or a copy has changed is refused, not trained on."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

BLOCK = 4096  # bytes that make one sum
CHUNK = 1024 * BLOCK  # bytes read at a time
MARK = b"adapter-checksum:"
DIGEST_BYTES = 8
COMMENT_BYTES = len(MARK) + 2 * DIGEST_BYTES
LENGTH_BYTES = 2  # the length of its comment is what a zip file ends with


class Checksum:
    """Sums blocks of 64-bit words, and hashes the sums: thirty times as fast as hashing all that is written.

    One changed bit changes one sum for certain; blocks that are lost, blank or in another place change their sums or
    the order of the sums.
    """

    def __init__(self) -> None:
        self._sums = hashlib.blake2b(digest_size=DIGEST_BYTES)
        self._rest = b""
        self._size = 0

    def update(self, data: Any) -> None:
        """Add bytes, in pieces of any size."""
        view = memoryview(data).cast("B")
        self._size += len(view)
        if self._rest:
            missing = BLOCK - len(self._rest)
            self._rest += view[:missing]
            view = view[missing:]
            if len(self._rest) < BLOCK:
                return
            self._add(self._rest)
        whole = len(view) // BLOCK * BLOCK
        self._add(view[:whole])
        self._rest = bytes(view[whole:])

    def _add(self, blocks: bytes | memoryview) -> None:
        words = np.frombuffer(blocks, "<u8").reshape(-1, BLOCK // 8)
        self._sums.update(words.sum(axis=1, dtype="<u8").tobytes())

    def comment(self) -> bytes:
        """What is written into the file."""
        final = self._sums.copy()
        final.update(self._rest + self._size.to_bytes(8, "little"))
        return MARK + final.hexdigest().encode()


class Sealed:
    """A file whose writes are summed on their way.

    Args:
        file: Open for writing, at its beginning.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._sum = Checksum()
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write and sum; torch hides what the system says against it behind an error of its own, so it is kept."""
        self._sum.update(data)
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        """Flush the file below."""
        self._file.flush()

    def seal(self) -> None:
        """Make the checksum the comment of the zip file that has been written."""
        comment = self._sum.comment()
        self._file.seek(-LENGTH_BYTES, os.SEEK_END)
        self._file.write(len(comment).to_bytes(LENGTH_BYTES, "little") + comment)


def verify(path: Path) -> None:
    """Compare a file with the checksum in it; one of another program with the CRC-32 of its records, where it has them.

    Reads the whole file, once: one that has not changed since is taken as it was found then.

    Raises:
        ValueError: The file is not what was written.
    """
    found = path.stat()
    _verify(path.absolute(), (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))


@lru_cache(maxsize=256)
def _verify(path: Path, identity: tuple[int, ...]) -> None:
    """The same for a file as it is now; what is raised is not remembered."""
    with open(path, "rb") as file:
        content = os.fstat(file.fileno()).st_size - COMMENT_BYTES - LENGTH_BYTES
        file.seek(max(content + LENGTH_BYTES, 0))
        comment = file.read()
        if content < 0 or not comment.startswith(MARK):
            _verify_records(path)
        elif comment != _comment_of(file, content):
            raise ValueError("it is damaged: its checksum does not match")


def _comment_of(file: IO[bytes], content: int) -> bytes:
    """The comment that belongs to the first ``content`` bytes of a file; its length was 0 when they were summed."""
    checksum = Checksum()
    file.seek(0)
    while content:
        data = file.read(min(CHUNK, content))
        content -= len(data)
        checksum.update(data)
    checksum.update(bytes(LENGTH_BYTES))
    return checksum.comment()


def _verify_records(path: Path) -> None:
    """Records without a CRC-32 have a zero in its place; what is no zip file has none."""
    try:
        if not zipfile.is_zipfile(path):
            return
        with zipfile.ZipFile(path) as archive:
            for record in archive.infolist():
                if record.CRC:
                    with archive.open(record) as file:
                        while file.read(CHUNK):
                            pass
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ValueError(f"it is damaged: {error}") from error
