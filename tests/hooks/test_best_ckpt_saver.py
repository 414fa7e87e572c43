from __future__ import annotations

import json

import pytest
import torch

from adapter import ConfigError
from adapter.hooks.best_ckpt_saver import BestCkptSaverHook
from tests.runs import Recorder, make, pairs, run, scripted, weights_of

NAN = float("nan")
EVALUATION = {"type": "EvaluationHook"}


def best(**settings):
    return [EVALUATION, {"type": "BestCkptSaverHook", "metric_key": "score", **settings}]


def saved(folder, values, settings, evaluation=EVALUATION, by="epoch", epochs=4):
    hooks = [evaluation, {"type": "BestCkptSaverHook", "metric_key": "score", **settings}]
    run(folder, hooks, epochs, samples=4, metrics=scripted(*values, by=by))
    return pairs(folder)


KEEP_ALL = {"max_checkpoint_num": None}


@pytest.mark.parametrize(
    ("values", "settings", "expected"),
    [
        ([0.1, 0.3, 0.2, 0.3], {}, ["best_epoch2_score0.3"]),
        ([0.1, 0.3, 0.2, 0.3], KEEP_ALL, ["best_epoch1_score0.1", "best_epoch2_score0.3"]),
        ([1, 2, 3, 4], {"max_checkpoint_num": 2}, ["best_epoch3_score3", "best_epoch4_score4"]),
        ([1, 2, 3, 4], {"max_checkpoint_num": 0}, ["best_epoch4_score4"]),
        ([1, 2, 3, 4], {"max_checkpoint_num": 6}, [f"best_epoch{n}_score{n}" for n in (1, 2, 3, 4)]),
        ([3.0, 1.5, 2.0, 1e-07], {"rule": "min"}, ["best_epoch4_score1e-07"]),
        ([3.0, 1.5, 2.0, 1.5], {"rule": "min", **KEEP_ALL}, ["best_epoch1_score3.0", "best_epoch2_score1.5"]),
        ([0.1, 0.3, 0.2, 0.3], {"save_file_name": "winner.pth"}, ["winner"]),
        ([0.1, 0.3, 0.2, 0.3], {"save_file_name": "winner"}, ["winner"]),
        ([0.1, 0.3, 0.2, 0.3], {"save_best": False}, []),
        # the period saver's settings are accepted, and the evaluations are followed all the same
        ([0.1, 0.3, 0.2, 0.3], {"interval": 3, "by_epoch": False}, ["best_epoch2_score0.3"]),
        ([NAN, 1.0, 2.0, 3.0], KEEP_ALL, ["best_epoch1_scorenan"]),
    ],
)
def test_pairs(tmp_path, values, settings, expected):
    assert saved(tmp_path, values, settings) == expected


@pytest.mark.parametrize(
    ("evaluation", "by", "expected"),
    [
        ({**EVALUATION, "interval": 2}, "epoch", ["best_epoch2_score5", "best_epoch4_score9"]),
        ({**EVALUATION, "by_epoch": False}, "iter", ["best_iter1_score1", "best_iter2_score5", "best_iter4_score9"]),
    ],
)
def test_follows_the_evaluations(tmp_path, evaluation, by, expected):
    assert saved(tmp_path, [1, 5, 2, 9], KEEP_ALL, evaluation, by) == expected


def test_the_file_holds_the_best_weights(tmp_path):
    after = Recorder("after_train_epoch", weights_of)
    run(tmp_path, best(), 3, metrics=scripted(1, 2, 0), callbacks=[after])
    state = torch.load(tmp_path / "best_epoch2_score2.pth", weights_only=True)
    assert [value for tensor in state.values() for value in tensor.flatten().tolist()] == after.seen[1]


def test_output_folder(tmp_path):
    run(tmp_path, best(), 3, metrics=scripted(1, 2, 0))
    output = tmp_path / "output_best"
    assert (output / "pytorch_model.bin").samefile(tmp_path / "best_epoch2_score2.pth")
    assert json.loads((output / "eval_result.txt").read_text()) == {"score": 2}


@pytest.mark.parametrize(("restore", "epoch"), [(True, 1), (False, 2)])
def test_restore_best(tmp_path, restore, epoch):
    after = Recorder("after_train_epoch", weights_of)
    trainer = run(tmp_path, best(restore_best=restore), 3, metrics=scripted(1, 2, 0), callbacks=[after])
    assert weights_of(trainer) == after.seen[epoch]


@pytest.mark.parametrize("there", [True, False])
def test_restore_best_of_the_run_before(tmp_path, there, capsys):
    """The best weights are in the folder of the run that is gone on with; unless somebody moved them."""
    after = Recorder("after_train_epoch", weights_of)
    saving = [{"type": "CheckpointHook", "interval": 1}, *best(restore_best=True)]
    run(tmp_path / "a", saving, 2, metrics=scripted(2, 1, 0), callbacks=[after])
    if not there:
        (tmp_path / "a" / "best_epoch1_score2.pth").unlink()
    trainer = make(tmp_path / "b", saving, 3, metrics=scripted(2, 1, 0))
    last = Recorder("after_train_epoch", weights_of)
    trainer.register_hook(last)
    trainer.train(str(tmp_path / "a" / "epoch_2"))
    assert weights_of(trainer) == (after.seen[0] if there else last.seen[-1])
    assert ("the best weights, best_epoch1_score2, are gone" in capsys.readouterr().err) is not there


def test_state(tmp_path):
    trainer = run(tmp_path, best(), 2, metrics=scripted(1, 2))
    (hook,) = trainer.get_hook(BestCkptSaverHook)
    assert hook.state_dict() == {"history": ["best_epoch2_score2"], "leaving": [], "best_metric": 2}


def test_the_best_of_the_run_before_has_to_be_beaten(tmp_path):
    trainer = make(tmp_path, best(**KEEP_ALL), 3, metrics=scripted(1, 2, 3))
    (hook,) = trainer.get_hook(BestCkptSaverHook)
    hook.load_state_dict({"history": [], "best_metric": 2})
    trainer.train()
    assert pairs(tmp_path) == ["best_epoch3_score3"]


def test_refuses_a_metric_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="metric_key 'f1' is not among the evaluation's values: score"):
        saved(tmp_path, [1, 1, 1, 1], {"metric_key": "f1"})


def test_refuses_a_rule():
    with pytest.raises(ConfigError, match=r"rule: found 'mix'; allowed: max or min\. Did you mean '(max|min)'\?"):
        BestCkptSaverHook("score", rule="mix")
