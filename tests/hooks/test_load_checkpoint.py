from __future__ import annotations

import pytest
from torch import nn

from adapter import ConfigError
from adapter.hooks.load_checkpoint import LoadCheckpointHook
from tests.runs import Recorder, make, messages, run, weights_of

SAVER = {"type": "CheckpointHook", "interval": 1}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a run of 3 epochs, and its weights after each."""
    folder = tmp_path_factory.mktemp("run")
    after = Recorder("after_train_epoch", weights_of)
    run(folder, [SAVER], epochs=3, callbacks=[after])
    return folder, after.seen


@pytest.mark.parametrize("name", ["epoch_1.pth", "epoch_1", "epoch_1_trainer_state.pth"])
def test_goes_on_with_the_run(tmp_path, finished, name):
    folder, after = finished
    trainer = run(tmp_path, epochs=3, callbacks=[LoadCheckpointHook(str(folder / name))])
    assert (trainer.epoch, trainer.iter) == (3, 9)
    assert weights_of(trainer) == after[2]
    assert [line for line in messages(tmp_path) if line.startswith("Training goes on from")]


def test_says_that_nothing_is_left_to_train(tmp_path, finished):
    trainer = run(tmp_path, epochs=2, callbacks=[LoadCheckpointHook(str(finished[0] / "epoch_2"))])
    assert (trainer.epoch, weights_of(trainer)) == (2, finished[1][1])
    assert [line for line in messages(tmp_path) if "had its 2 epochs: nothing is left to train" in line]


@pytest.mark.parametrize(
    ("name", "settings"),
    [("epoch_2.pth", {"load_all_state": False}), ("output/pytorch_model.bin", {})],
)
def test_starts_with_weights(tmp_path, finished, name, settings):
    folder, after = finished
    start = Recorder("before_train_epoch", lambda trainer: (trainer.epoch, weights_of(trainer)))
    hook = LoadCheckpointHook(str(folder / name), **settings)
    trainer = run(tmp_path, epochs=1, callbacks=[start, hook])
    expected = after[1] if name == "epoch_2.pth" else after[2]
    assert start.seen == [(0, expected)]
    assert trainer.iter == 3


def test_without_a_file_it_does_nothing(tmp_path, finished):
    trainer = run(tmp_path, epochs=1, callbacks=[LoadCheckpointHook()])
    assert weights_of(trainer) == finished[1][0]


def test_missing_file(tmp_path):
    trainer = make(tmp_path, callbacks=[LoadCheckpointHook(str(tmp_path / "epoch_9.pth"))])
    with pytest.raises(FileNotFoundError, match=r"epoch_9\.pth"):
        trainer.train()


@pytest.mark.parametrize(
    ("hook", "train", "model", "told"),
    [
        ({"checkpoint_file": "epoch_9"}, {}, None, "train.hooks[0].checkpoint_file: no checkpoint at"),
        ({"checkpoint_file": "epoch_1"}, {"optimizer": {"type": "Adam", "lr": 0.1}}, None, "holds the state of SGD"),
        ({"checkpoint_file": "epoch_1"}, {}, {"head": 5}, "head.weight has the shape (3, 4), not (5, 4)"),
        (
            {"checkpoint_file": "epoch_1", "load_all_state": False},
            {},
            {"head": 5},
            "head.weight has the shape (3, 4), not (5, 4)",
        ),
        ({"checkpoint_file": "epoch_1"}, {}, {"other": 3}, "another model"),
        ({"checkpoint_file": "epoch_1"}, {}, {"head": 3, "more": 3}, "groups have [2] parameters, not [4]"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(tmp_path, finished, hook, train, model, told):
    given = {"type": "LoadCheckpointHook", **hook, "checkpoint_file": str(finished[0] / hook["checkpoint_file"])}
    own = {"model": nn.ModuleDict({name: nn.Linear(4, size) for name, size in model.items()})} if model else {}
    trainer = make(tmp_path, [given], train=train, **own)
    with pytest.raises(ConfigError) as caught:
        trainer.train()
    assert told in str(caught.value)
    assert [problem.key for problem in caught.value.problems] == ["train.hooks[0].checkpoint_file"]
    assert not list(tmp_path.iterdir())


def test_weights_of_another_optimizer_s_run_are_taken(tmp_path, finished):
    hook = LoadCheckpointHook(str(finished[0] / "epoch_1"), load_all_state=False)
    trainer = run(tmp_path, epochs=1, train={"optimizer": {"type": "Adam", "lr": 0.1}}, callbacks=[hook])
    assert trainer.iter == 3
