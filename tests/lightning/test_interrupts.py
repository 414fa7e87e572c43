from __future__ import annotations

import os
import signal
import threading

import pytest
import torch

from adapter.checkpoint.files import newest_pair
from adapter.checkpoint.state import save_weights
from adapter.hooks.hook import Hook
from tests.runs import Recorder, iterations, make, pairs, run, weights_of

SAVER = {"type": "CheckpointHook", "interval": 1}


class SendAt(Hook):
    """Sends this process a signal at an iteration of the run, as often as told."""

    def __init__(self, number: signal.Signals, iteration: int, times: int = 1) -> None:
        self.number, self.iteration, self.times = number, iteration, times

    def before_train_iter(self, trainer):
        if trainer.iter == self.iteration:
            for _ in range(self.times):
                os.kill(os.getpid(), self.number)


def interrupted(folder, number, iteration=4, times=1, ends=KeyboardInterrupt):
    """A trainer of 2 epochs of 3 iterations that a signal ended."""
    trainer = make(folder, [SAVER], callbacks=[SendAt(number, iteration, times)])
    with pytest.raises(ends) as caught:
        trainer.train()
    return trainer, caught.value


@pytest.mark.parametrize(
    ("number", "ends"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)], ids=["SIGINT", "SIGTERM"]
)
def test_the_iteration_is_finished_and_a_pair_is_saved(number, ends, tmp_path):
    _, error = interrupted(tmp_path, number, ends=ends)
    assert pairs(tmp_path) == ["epoch_1", "interrupted"]
    meta = torch.load(tmp_path / "interrupted_trainer_state.pth", weights_only=True)["meta"]
    assert (meta["epoch"], meta["iter"], meta["inner_iter"]) == (1, 5, 2)
    if ends is SystemExit:
        assert error.code == 143


@pytest.mark.parametrize("iteration", [1, 2, 4])
def test_the_run_goes_on_as_if_never_stopped(iteration, tmp_path):
    whole = run(tmp_path / "whole", [SAVER])
    interrupted(tmp_path / "first", signal.SIGINT, iteration)
    done = iterations()
    again = make(tmp_path / "again", [SAVER], callbacks=[done])
    again.train(str(tmp_path / "first" / "interrupted"))
    assert weights_of(again) == weights_of(whole)
    assert done.seen == list(range(iteration + 1, 6))


def test_the_pair_goes_when_the_run_has_passed_it(tmp_path):
    interrupted(tmp_path, signal.SIGINT, 1)
    make(tmp_path, [SAVER]).train(str(tmp_path / "interrupted"))
    assert sorted(path.name for path in tmp_path.glob("*.pth")) == [
        f"epoch_{n}{part}.pth" for n in (1, 2) for part in ("", "_trainer_state")
    ]


@pytest.mark.parametrize("other", ["folder", "start"])
def test_the_pair_of_another_run_stays(other, tmp_path):
    interrupted(tmp_path, signal.SIGINT, 1)
    if other == "folder":
        make(tmp_path / "again", [SAVER]).train(str(tmp_path / "interrupted"))
    else:
        make(tmp_path, [SAVER]).train()
    assert "interrupted" in pairs(tmp_path)


def test_a_pair_is_whole_while_another_takes_its_name(tmp_path):
    """As when the time that a cluster gives ends while the second pair is being saved."""
    interrupted(tmp_path, signal.SIGINT, 0)
    again = make(tmp_path, [SAVER])

    def half_saved(trainer):
        save_weights(trainer, tmp_path / "interrupted")
        raise ConnectionAbortedError

    again.register_hook(Recorder("after_train_iter", half_saved))
    with pytest.raises(ConnectionAbortedError):
        again.train(str(tmp_path / "interrupted"))
    assert newest_pair(tmp_path) == tmp_path / "interrupted_before.pth"
    make(tmp_path, [SAVER]).train(str(newest_pair(tmp_path)))
    assert pairs(tmp_path) == ["epoch_1", "epoch_2"]


def test_a_second_signal_ends_at_once(tmp_path):
    trainer, _ = interrupted(tmp_path, signal.SIGINT, times=2)
    assert trainer.iter == 4
    assert pairs(tmp_path) == ["epoch_1"]


def test_handlers_are_put_back(tmp_path):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    interrupted(tmp_path, signal.SIGINT)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_training_in_another_thread_leaves_signals_alone(tmp_path):
    done = []
    thread = threading.Thread(target=lambda: done.append(run(tmp_path, [SAVER]).epoch))
    thread.start()
    thread.join()
    assert done == [2]
