from __future__ import annotations

import collections
import logging
import os
import pickle
import stat

import numpy as np
import pytest
import torch

from adapter.checkpoint import files


class Unpickled:
    """Would run code when it is loaded."""

    def __reduce__(self):
        return os.system, ("echo",)


STATE = {"a": torch.arange(3.0), "n": 1, "names": ["x"], "t": (1, 2)}


def test_round_trip(tmp_path):
    path = tmp_path / "folder" / "a.pth"
    files.save(STATE, path)
    loaded = files.load(path)
    assert torch.equal(loaded.pop("a"), STATE["a"])
    assert loaded == {name: value for name, value in STATE.items() if name != "a"}
    assert [each.name for each in path.parent.iterdir()] == ["a.pth"]


def test_others_can_read_as_with_any_new_file(tmp_path):
    files.save(STATE, tmp_path / "a.pth")
    (tmp_path / "plain").write_text("")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a.pth", "plain")}
    assert len(modes) == 1


def test_a_save_that_fails_leaves_the_earlier_file(tmp_path):
    path = tmp_path / "a.pth"
    files.save(STATE, path)
    before = path.read_bytes()
    with pytest.raises((pickle.PicklingError, AttributeError)):
        files.save({"a": torch.zeros(1000), "f": lambda: None}, path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.pth"]


def test_the_checksum_setting_of_others_is_left_alone(tmp_path):
    before = torch.serialization.get_crc32_options()
    files.save(STATE, tmp_path / "a.pth")
    assert torch.serialization.get_crc32_options() == before is True


def test_loads_a_random_state_of_numpy(tmp_path):
    """ModelScope's trainer keeps one in its checkpoints."""
    weights = collections.OrderedDict(a=torch.ones(1))
    torch.save({"numpy": np.random.get_state(), "weights": weights}, tmp_path / "a.pth")
    kind, keys, *_ = files.load(tmp_path / "a.pth")["numpy"]
    assert kind == "MT19937"
    assert np.array_equal(keys, np.random.get_state()[1])


def whole_pair(folder, name, saved, weights=STATE):
    """A pair that says it was saved at a time."""
    files.save(weights, folder / f"{name}.pth")
    files.save({"meta": {"adapter": {"saved": saved}}}, folder / f"{name}_trainer_state.pth")


def test_the_newest_pair_is_the_one_saved_last_wherever_it_was_copied(tmp_path):
    for name, saved in (("epoch_2", 2.0), ("epoch_3", 3.0), ("epoch_1", 1.0)):  # a copy's times are of the copying
        whole_pair(tmp_path, name, saved)
    assert files.newest_pair(tmp_path) == tmp_path / "epoch_3.pth"


@pytest.mark.parametrize("damage", ["weights gone", "weights cut", "weights changed", "state gone", "state cut"])
def test_a_pair_that_is_not_whole_is_passed_over(damage, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("adapter"), "propagate", True)
    whole_pair(tmp_path, "epoch_1", 1.0)
    whole_pair(tmp_path, "epoch_2", 2.0)
    part, what = damage.split()
    path = tmp_path / {"weights": "epoch_2.pth", "state": "epoch_2_trainer_state.pth"}[part]
    content = path.read_bytes()
    path.unlink()
    if what != "gone":
        path.write_bytes(content[:300] if what == "cut" else content[:300] + b"#" + content[301:])
    assert files.newest_pair(tmp_path) == tmp_path / "epoch_1.pth"
    assert (f"'{path}'" in caplog.text) is (what != "gone")


def test_no_whole_pair(tmp_path):
    (tmp_path / "epoch_1_trainer_state.pth").write_text("")
    with pytest.raises(FileNotFoundError, match="no checkpoint pair"):
        files.newest_pair(tmp_path)


def truncated(path):
    files.save({"a": torch.zeros(1000)}, path)
    path.write_bytes(path.read_bytes()[:-500])


@pytest.mark.parametrize(
    "write",
    [
        truncated,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"no checkpoint"),
        lambda path: torch.save({"a": Unpickled()}, path),
        lambda path: path.write_bytes(pickle.dumps(Unpickled())),
    ],
    ids=["truncated", "empty", "text", "runs code", "pickle that runs code"],
)
def test_refuses_to_load(tmp_path, write):
    path = tmp_path / "a.pth"
    write(path)
    with pytest.raises(ValueError, match=f"cannot load the weights '{path}': ."):
        files.load(path, "weights")


def test_code_is_not_run_and_said_not_to_be(tmp_path):
    torch.save({"a": Unpickled()}, tmp_path / "a.pth")
    with pytest.raises(ValueError, match=r"a\.pth': it is damaged, or holds objects that would run code$"):
        files.load(tmp_path / "a.pth")


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"no checkpoint at '{tmp_path / 'a.pth'}'"):
        files.load(tmp_path / "a.pth")


@pytest.mark.parametrize(
    ("given", "there", "weights", "state"),
    [
        ("epoch_1.pth", ["epoch_1.pth", "epoch_1_trainer_state.pth"], "epoch_1.pth", "epoch_1_trainer_state.pth"),
        ("epoch_1", ["epoch_1.pth", "epoch_1_trainer_state.pth"], "epoch_1.pth", "epoch_1_trainer_state.pth"),
        (
            "epoch_1_trainer_state.pth",
            ["epoch_1.pth", "epoch_1_trainer_state.pth"],
            "epoch_1.pth",
            "epoch_1_trainer_state.pth",
        ),
        ("epoch_1.pth", ["epoch_1.pth"], "epoch_1.pth", None),
        ("best_a0.5", ["best_a0.5.pth"], "best_a0.5.pth", None),
        ("model.bin", ["model.bin", "model_trainer_state.pth"], "model.bin", None),
        ("m.safetensors", ["m.safetensors"], "m.safetensors", None),
    ],
)
def test_pair(tmp_path, given, there, weights, state):
    for name in there:
        (tmp_path / name).write_text("")
    assert files.pair(tmp_path / given) == (tmp_path / weights, state and tmp_path / state)


@pytest.mark.parametrize("given", ["epoch_1", "epoch_1.pth", "epoch_1_trainer_state.pth", "model.bin"])
def test_pair_without_weights(tmp_path, given):
    (tmp_path / "epoch_1_trainer_state.pth").write_text("")
    with pytest.raises(FileNotFoundError, match=f"no checkpoint at '{tmp_path / given}'"):
        files.pair(tmp_path / given)


@pytest.mark.parametrize("given", ["folder", "notes.txt", "log.json"])
def test_pair_of_what_is_no_checkpoint(tmp_path, given):
    (tmp_path / "folder").mkdir()
    for name in ("notes.txt", "log.json", "folder.pth", "notes.pth", "notes.txt.pth"):
        (tmp_path / name).write_text("")
    with pytest.raises(FileNotFoundError, match=rf"'{tmp_path / given}' is no checkpoint; name a \.pth"):
        files.pair(tmp_path / given)


@pytest.mark.parametrize("there", [None, "", "older"])
def test_link(tmp_path, there):
    source, target = tmp_path / "a.pth", tmp_path / "output" / "model.bin"
    source.write_text("weights")
    if there is not None:
        target.parent.mkdir()
        target.write_text(there)
    files.link_or_copy(source, target)
    files.link_or_copy(source, target)
    assert target.samefile(source)
    assert [path.name for path in target.parent.iterdir()] == ["model.bin"]


def test_a_link_outlives_its_source(tmp_path):
    source, target = tmp_path / "a.pth", tmp_path / "model.bin"
    source.write_text("weights")
    files.link_or_copy(source, target)
    source.unlink()
    assert target.read_text() == "weights"


@pytest.mark.parametrize("there", [["a.pth", "a_trainer_state.pth"], ["a.pth"], []])
def test_remove_pair(tmp_path, there):
    for name in (*there, "ab.pth"):
        (tmp_path / name).write_text("")
    files.remove_pair(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["ab.pth"]
