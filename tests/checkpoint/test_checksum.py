from __future__ import annotations

import io
import os
import random
import zipfile

import pytest
import torch

from adapter.checkpoint import checksum, files
from adapter.checkpoint.checksum import BLOCK, MARK, Checksum, verify

STATE = {"a": torch.arange(5000.0), "b": {"c": [1, 2.5, "text"]}}


def comment(*pieces: bytes) -> bytes:
    checksum = Checksum()
    for piece in pieces:
        checksum.update(piece)
    return checksum.comment()


def test_the_pieces_do_not_matter():
    data = random.Random(0).randbytes(3 * BLOCK + 77)
    for cut in (1, 100, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 76):
        assert comment(data[:cut], data[cut:]) == comment(data)
    assert comment(*(data[i : i + 97] for i in range(0, len(data), 97))) == comment(data)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: data[BLOCK : 2 * BLOCK] + data[:BLOCK] + data[2 * BLOCK :],
        lambda data: bytes(BLOCK) + data[BLOCK:],
        lambda data: data[:BLOCK] + data[2 * BLOCK :],
    ],
    ids=["cut short", "longer", "blocks swapped", "block blank", "block lost"],
)
def test_changed_data_have_another(change):
    data = random.Random(0).randbytes(3 * BLOCK + 77)
    assert comment(change(data)) != comment(data)


def test_every_bit_of_a_file_counts(tmp_path):
    """A flipped bit is refused, or the tensors are what they were: the bits of a file's end mark protect nothing."""
    path = tmp_path / "a.pth"
    files.save(STATE, path)
    content = path.read_bytes()
    refused = 0
    for place in [*range(0, len(content), 97), *range(len(content) - 60, len(content))]:
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
        try:
            loaded = files.load(path)
        except ValueError as error:
            refused += f"cannot load the checkpoint '{path}': " in str(error)
        else:
            assert place >= len(content) - 60
            assert torch.equal(loaded["a"], STATE["a"])
            assert loaded["b"] == STATE["b"]
    assert refused > len(content) // 97


def test_a_file_of_torch_has_its_own_checksums(tmp_path):
    path = tmp_path / "a.pth"
    torch.save(STATE, path)
    assert torch.equal(files.load(path)["a"], STATE["a"])
    content = bytearray(path.read_bytes())
    content[content.index(STATE["a"].numpy().tobytes()) + 8000] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"cannot load the checkpoint '{path}': it is damaged: Bad CRC-32"):
        files.load(path)


def test_a_file_without_checksums_is_taken_as_it_is(tmp_path):
    with files.without_record_checksums():
        torch.save(STATE, tmp_path / "a.pth")
    verify(tmp_path / "a.pth")
    torch.save(STATE, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    assert torch.equal(files.load(tmp_path / "old.pth")["a"], STATE["a"])


@pytest.mark.parametrize("mmap", [True, False])
def test_the_file_stays_one_of_torch(mmap, tmp_path):
    path = tmp_path / "a.pth"
    files.save(STATE, path)
    assert torch.equal(torch.load(path, weights_only=True, mmap=mmap)["a"], STATE["a"])
    assert torch.equal(torch.load(io.BytesIO(path.read_bytes()), weights_only=True)["a"], STATE["a"])
    assert zipfile.ZipFile(path).comment.startswith(MARK)


def test_a_file_is_read_once_until_it_changes(tmp_path):
    path = tmp_path / "a.pth"
    files.save(STATE, path)
    before = checksum._verify.cache_info()
    for _ in range(3):
        verify(path)
    after = checksum._verify.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 2)
    content = path.read_bytes()
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))  # the clock of some disks ticks in milliseconds
    for _ in range(2):
        with pytest.raises(ValueError, match="damaged"):
            verify(path)
