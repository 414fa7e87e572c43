"""Folders of shards beside pairs: their names, and whether all that was written is there."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from adapter.checkpoint import files, shards


def pair_with_shards(folder: Path, name: str, saved: float) -> Path:
    """A pair that says it was saved at a time, with two files of shards; returns their folder."""
    own = folder / f"{name}_shards_17"
    (own / "state").mkdir(parents=True)
    (own / "state" / "0.pt").write_bytes(b"0123456789")
    (own / ".metadata").write_bytes(b"01234")
    files.save({}, folder / f"{name}.pth")
    state = {"optimizer": shards.named(own), "meta": {"adapter": {"saved": saved}}}
    files.save(state, folder / f"{name}_trainer_state.pth")
    return own


def test_the_state_says_what_lies_in_the_folder(tmp_path):
    own = pair_with_shards(tmp_path, "iter_3", 1.0)
    state = shards.named(own)
    assert state == {"shards": "iter_3_shards_17", "shard_files": {".metadata": 5, "state/0.pt": 10}}
    assert shards.folder_of(state, tmp_path / "iter_3") == own
    assert shards.folder_of({"shards": own.name}, tmp_path / "iter_3") == own  # of an earlier version


@pytest.mark.parametrize("state", [None, {}, {"state": {}, "param_groups": []}])
def test_most_states_have_no_folder(state, tmp_path):
    assert shards.folder_of(state, tmp_path / "iter_3") is None


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("", None, "there is no such folder"),
        (".metadata", None, ".metadata is gone"),
        ("state/0.pt", None, "state/0.pt is gone"),
        ("state/0.pt", b"012", "state/0.pt has 3 of 10 bytes"),
    ],
)
def test_a_pair_whose_shards_are_not_whole_is_passed_over(name, content, said, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("adapter"), "propagate", True)
    pair_with_shards(tmp_path, "iter_3", 1.0)
    own = pair_with_shards(tmp_path, "iter_6", 2.0)
    assert files.newest_pair(tmp_path) == tmp_path / "iter_6.pth"
    path = own / name
    path.rename(tmp_path / "elsewhere")
    if content is not None:
        path.write_bytes(content)
    assert files.newest_pair(tmp_path) == tmp_path / "iter_3.pth"
    assert f"cannot load the shards '{own}': {said}" in caplog.text
    with pytest.raises(ValueError, match=said):
        shards.folder_of(files.load(tmp_path / "iter_6_trainer_state.pth")["optimizer"], tmp_path / "iter_6")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("iter_3_shards_17", "iter_3"),
        ("iter_3.pth", "iter_3.pth"),
        ("my_shards_of_glass/iter_3.pth", "my_shards_of_glass/iter_3.pth"),
    ],
)
def test_a_folder_stands_for_its_pair(path, expected):
    assert shards.whole_of(Path(path)) == Path(expected)


def test_a_file_within_a_folder_does_not():
    with pytest.raises(FileNotFoundError, match=r"name the folder '.*iter_3_shards_17', or '.*iter_3\.pth'"):
        shards.whole_of(Path("work/iter_3_shards_17/state/0.pt"))


def test_a_pair_goes_with_its_shards_and_leaves_others(tmp_path):
    pair_with_shards(tmp_path, "iter_3", 1.0)
    other = pair_with_shards(tmp_path, "iter_30", 1.0)
    files.remove_pair(tmp_path / "iter_3")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["iter_30.pth", other.name, "iter_30_trainer_state.pth"]
