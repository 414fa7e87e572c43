from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adapter.aside import WriteError, folder_aside, remove_parts, write_text, written_aside
from tests.conftest import ROOT


def test_nothing_is_at_the_path_until_all_is_written(tmp_path):
    path = tmp_path / "a.txt"
    with written_aside(path) as file:
        file.write(b"half")
        assert not path.exists()
    assert path.read_bytes() == b"half"


@pytest.mark.parametrize("relative", [False, True])
def test_what_cannot_be_written_is_named(relative, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    path = Path("folder") if relative else tmp_path / "folder"
    with pytest.raises(WriteError, match=f"^cannot write '{path}': "):
        write_text("text", path)
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def test_what_is_no_file_is_written_to(tmp_path):
    """As root, a rename would put a file in the place of a device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    write_text("text", pipe)
    assert reader.communicate(timeout=60) == ("text", None)
    assert pipe.is_fifo()


def test_write_text(tmp_path):
    write_text("grün", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == "grün".encode()


def test_what_a_killed_process_was_writing_is_cleared(tmp_path):
    code = f"""
import os, signal
from pathlib import Path
from adapter.aside import written_aside
with written_aside(Path({str(tmp_path)!r}, "a.pth")) as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    (left,) = tmp_path.iterdir()
    with written_aside(tmp_path / "b.pth") as file:
        file.write(b"whole")
        remove_parts(tmp_path)
        assert not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["b.pth"]


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_is_there_when_all_in_it_is_written(there, tmp_path):
    path = tmp_path / "below" / "folder"
    if there:
        path.mkdir(parents=True)
    with folder_aside(path) as folder:
        (folder / "a").write_text("a")
        assert not path.exists() or not list(path.iterdir())
    assert [each.name for each in path.iterdir()] == ["a"]
    assert [each.name for each in path.parent.iterdir()] == ["folder"]
    assert path.stat().st_mode == path.parent.stat().st_mode


def test_a_folder_that_fails_leaves_nothing(tmp_path):
    def fail(folder):
        (folder / "a").write_text("a")
        raise KeyError

    with folder_aside(tmp_path / "whole") as folder:
        (folder / "a").write_text("a")
    with pytest.raises(KeyError), folder_aside(tmp_path / "folder") as folder:
        fail(folder)
    assert [each.name for each in tmp_path.iterdir()] == ["whole"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "folder"
    with pytest.raises(WriteError, match=r"^cannot write '.*/file/folder': "), folder_aside(path):
        pass
