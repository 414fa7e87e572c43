from __future__ import annotations

import pytest
import torch

from adapter.hooks.checkpoint import CheckpointHook
from tests.runs import Recorder, make, messages, pairs, run, weights_of


def saver(**settings):
    return [{"type": "CheckpointHook", **settings}]


# 3 epochs of 3 iterations
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"interval": 1}, ["epoch_1", "epoch_2", "epoch_3"]),
        ({"interval": 2}, ["epoch_2", "epoch_3"]),
        ({"interval": 2, "save_last": False}, ["epoch_2"]),
        ({"interval": 0}, ["epoch_3"]),
        ({"interval": 0, "save_last": False}, []),
        ({"interval": 4, "by_epoch": False}, ["iter_4", "iter_8", "iter_9"]),
        ({"interval": 4, "by_epoch": False, "save_last": False}, ["iter_4", "iter_8"]),
        ({"interval": 3, "by_epoch": False}, ["iter_3", "iter_6", "iter_9"]),
        ({"interval": 1, "max_checkpoint_num": 2}, ["epoch_2", "epoch_3"]),
        ({"interval": 1, "max_checkpoint_num": 0}, ["epoch_3"]),
        ({"interval": 1, "max_checkpoint_num": 3}, ["epoch_1", "epoch_2", "epoch_3"]),
        ({"interval": 1, "max_checkpoint_num": 5}, ["epoch_1", "epoch_2", "epoch_3"]),
        ({"interval": 1, "max_checkpoint_num": 100}, ["epoch_1", "epoch_2", "epoch_3"]),
        ({"interval": 2, "by_epoch": False, "max_checkpoint_num": 2}, ["iter_8", "iter_9"]),
        ({"interval": 1, "save_strategy": "no"}, []),
        ({"interval": 5, "save_strategy": "by_step"}, ["iter_5", "iter_9"]),
        ({"interval": 2, "save_strategy": "by_epoch", "by_epoch": False}, ["epoch_2", "epoch_3"]),
    ],
)
def test_pairs(tmp_path, settings, expected):
    run(tmp_path, saver(**settings), epochs=3)
    assert pairs(tmp_path) == expected
    assert sorted(path.name for path in tmp_path.glob("*_trainer_state.pth")) == [
        f"{name}_trainer_state.pth" for name in expected
    ]


def test_weights_are_those_after_the_epoch(tmp_path):
    after = Recorder("after_train_epoch", weights_of)
    run(tmp_path, saver(interval=1), callbacks=[after])
    saved = [torch.load(tmp_path / f"epoch_{n}.pth", weights_only=True) for n in (1, 2)]
    assert [[v for tensor in state.values() for v in tensor.flatten().tolist()] for state in saved] == after.seen


def test_the_scheduler_has_stepped(tmp_path):
    run(tmp_path, saver(interval=1), epochs=1)
    state = torch.load(tmp_path / "epoch_1_trainer_state.pth", weights_only=True)
    assert state["lr_scheduler"]["last_epoch"] == 1
    assert state["optimizer"]["param_groups"][0]["lr"] == 0.05


def test_without_trainer_state(tmp_path):
    run(tmp_path, saver(interval=1, save_trainer_state=False, max_checkpoint_num=1))
    assert sorted(path.name for path in tmp_path.glob("*.pth")) == ["epoch_2.pth"]


@pytest.mark.parametrize(
    ("settings", "weights", "output"),
    [
        ({}, "", "output"),
        ({"save_dir": "a"}, "a", "a/output"),
        ({"output_dir": "b"}, "", "b/output"),
        ({"save_dir": "a", "output_dir": "b", "output_sub_dir": "export"}, "a", "b/export"),
    ],
)
def test_folders(tmp_path, monkeypatch, settings, weights, output):
    monkeypatch.chdir(tmp_path)
    run(tmp_path, callbacks=[CheckpointHook(interval=1, **settings)])
    assert pairs(tmp_path / weights) == ["epoch_1", "epoch_2"]
    assert (tmp_path / output / "pytorch_model.bin").samefile(tmp_path / weights / "epoch_2.pth")


def test_log(tmp_path):
    run(tmp_path / "a", saver(interval=1), epochs=1)
    run(tmp_path / "b", saver(interval=2, by_epoch=False), epochs=1)
    assert "Saving checkpoint at 1 epoch" in messages(tmp_path / "a")
    assert f"Checkpoints will be saved to {tmp_path / 'a'}" in messages(tmp_path / "a")
    assert [line for line in messages(tmp_path / "b") if line.startswith("Saving")] == [
        "Saving checkpoint at 2 iter",
        "Saving checkpoint at 3 iter",
    ]


def test_state_holds_the_pairs_on_disk(tmp_path):
    trainer = run(tmp_path, saver(interval=1, max_checkpoint_num=2), epochs=3)
    (hook,) = trainer.get_hook(CheckpointHook)
    assert hook.state_dict() == {"history": ["epoch_2", "epoch_3"], "leaving": []}


def test_pairs_of_the_run_before_count(tmp_path):
    trainer = make(tmp_path, saver(interval=1, max_checkpoint_num=2), epochs=1)
    (hook,) = trainer.get_hook(CheckpointHook)
    for name in ("old_1", "old_2"):
        (tmp_path / f"{name}.pth").write_text("")
    hook.load_state_dict({"history": ["old_1", "old_2"]})
    trainer.train()
    assert pairs(tmp_path) == ["epoch_1", "old_2"]


def test_pairs_that_a_killed_run_had_yet_to_delete_go(tmp_path):
    """The process died between the new pair and the end of the old one."""
    hooks = saver(interval=1, max_checkpoint_num=2)
    late = make(tmp_path, hooks, epochs=3)
    (hook,) = late.get_hook(CheckpointHook)
    hook._delete_leaving = lambda: None
    late.train()
    assert pairs(tmp_path) == ["epoch_1", "epoch_2", "epoch_3"]
    make(tmp_path, hooks, epochs=3).train(str(tmp_path / "epoch_3"))
    assert pairs(tmp_path) == ["epoch_2", "epoch_3"]
