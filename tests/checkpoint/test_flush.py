from __future__ import annotations

import copy

import pytest

from adapter.checkpoint.flush import Flusher, sync


def test_content_stays(tmp_path):
    path = tmp_path / "a.pth"
    path.write_text("weights")
    sync(path)
    assert path.read_text() == "weights"


def test_wait_is_over_when_all_are_synced(tmp_path):
    flusher = Flusher()
    paths = [tmp_path / f"{i}.pth" for i in range(5)]
    for path in paths:
        path.write_text("weights")
    flusher.add(paths)
    pending = list(flusher._pending)
    flusher.wait()
    assert len(pending) == 5
    assert all(future.done() for future in pending)
    assert flusher._pending == []


def test_a_file_that_is_not_there_is_passed_over(tmp_path):
    flusher = Flusher()
    flusher.add([tmp_path / "absent.pth", tmp_path / "folder" / "absent.pth"])
    flusher.wait()


def test_a_failure_is_raised_where_it_is_waited_for(tmp_path):
    flusher = Flusher()
    path = tmp_path / "loop"
    path.symlink_to(path)
    flusher.add([path])
    with pytest.raises(OSError, match="loop"):
        flusher.wait()
    flusher.wait()  # said once


def test_can_be_copied_with_its_hook(tmp_path):
    flusher = Flusher()
    flusher.add([tmp_path])
    copied = copy.deepcopy(flusher)
    copied.add([tmp_path])
    for each in (flusher, copied):
        each.wait()
        assert each._pending == []
