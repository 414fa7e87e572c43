from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from adapter import Metric
from adapter.checkpoint import files
from adapter.checkpoint.state import hook_states, trainer_state
from tests.runs import Recorder, make, run, scripted

EVALUATION = {"type": "EvaluationHook"}


@pytest.fixture(scope="module")
def work_dir(tmp_path_factory):
    """The work directory of 2 epochs of 3 iterations, saved after every second iteration and each epoch."""
    folder = tmp_path_factory.mktemp("run")
    hooks = [
        EVALUATION,
        {"type": "CheckpointHook", "interval": 1},
        {"type": "BestCkptSaverHook", "metric_key": "score"},
        {"type": "tests.hooks.test_build.Picky"},
    ]
    run(folder, hooks, metrics=scripted(1, 2))
    run(folder / "iters", [{"type": "CheckpointHook", "interval": 2, "by_epoch": False, "save_last": False}])
    return folder


def state_of(path):
    return files.load(path.with_name(path.name + files.STATE_SUFFIX))


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("epoch_1", (1, 3, 0)),
        ("epoch_2", (2, 6, 0)),
        ("iters/iter_2", (0, 2, 2)),
        ("iters/iter_4", (1, 4, 1)),
    ],
)
def test_says_where_to_go_on(work_dir, name, place):
    meta = state_of(work_dir / name)["meta"]
    assert (meta["epoch"], meta["iter"], meta["inner_iter"]) == place


def test_keys(work_dir):
    state = state_of(work_dir / "epoch_2")
    assert list(state) == ["meta", "optimizer", "lr_scheduler"]
    assert state["lr_scheduler"]["last_epoch"] == 2
    assert state["meta"]["adapter"]["hooks"] == {
        "CheckpointHook-0": {"history": ["epoch_1", "epoch_2"], "leaving": []},
        "BestCkptSaverHook-0": {"history": ["best_epoch2_score2"], "leaving": [], "best_metric": 2},
    }


def test_weights_have_the_model_s_names(work_dir):
    assert list(files.load(work_dir / "epoch_1.pth")) == ["head.weight", "head.bias"]


def test_random_state_is_that_of_the_moment(tmp_path):
    trainer = make(tmp_path)
    random = trainer_state(trainer, tmp_path / "any")["meta"]["adapter"]["random"]
    assert torch.equal(random["cpu"], torch.get_rng_state())
    torch.rand(1)
    assert not torch.equal(random["cpu"], torch.get_rng_state())


def test_before_training_there_is_no_optimizer(tmp_path):
    assert list(trainer_state(make(tmp_path), tmp_path / "any")) == ["meta"]


class Counting(Recorder):
    def __init__(self, n):
        super().__init__("before_run", lambda trainer: None)
        self.n = n

    def state_dict(self):
        return {"n": self.n} if self.n else {}


def test_hooks_of_one_class_are_told_apart(tmp_path):
    trainer = make(tmp_path, callbacks=[Counting(1), Counting(0), Counting(3)])
    assert hook_states(trainer) == {"Counting-0": {"n": 1}, "Counting-2": {"n": 3}}


@pytest.mark.parametrize(
    ("held", "told"),
    [(Path("a"), "state_dict()['n'] is of the type pathlib"), ({"deep": [1, object()]}, "['deep'][1] is of the type")],
)
def test_a_hook_whose_state_could_not_be_loaded_is_named_before_anything_is_saved(tmp_path, held, told):
    with pytest.raises(TypeError, match="Counting: ") as caught:
        run(tmp_path, [{"type": "CheckpointHook", "interval": 1}], callbacks=[Counting(held)])
    assert told in str(caught.value)
    assert "allowed: numbers, strings" in str(caught.value)
    assert not list(tmp_path.glob("*.pth"))


class Summary(Metric):
    def add(self, outputs, inputs):
        pass

    def evaluate(self):
        return {"score": 1.0, "folder": Path("a")}

    def merge(self, other):
        pass


def test_a_metric_whose_value_could_not_be_loaded_is_named(tmp_path):
    with pytest.raises(TypeError, match=r"evaluation: metric_values\['folder'\]"):
        run(
            tmp_path,
            [EVALUATION, {"type": "CheckpointHook", "interval": 1}],
            metrics={"type": "tests.checkpoint.test_state.Summary"},
        )


class Layered(torch.optim.SGD):
    """Keeps an option of its own in the groups of its parameters."""

    def __init__(self, params, lr, layers):
        super().__init__(params, lr)
        for group in self.param_groups:
            group["layers"] = layers


def test_a_mapping_of_the_config_in_the_optimizer_is_resumed(tmp_path):
    optimizer = {"type": f"{__name__}.Layered", "lr": 0.1, "layers": {"decay": {"first": 0.5}}}
    config = {"optimizer": optimizer, "max_epochs": 2}
    run(tmp_path, [{"type": "CheckpointHook", "interval": 1}], 1, config)
    (group,) = state_of(tmp_path / "epoch_1")["optimizer"]["param_groups"]
    assert group["layers"] == {"decay": {"first": 0.5}}
    trainer = make(tmp_path / "again", [], 2, config)
    trainer.train(str(tmp_path / "epoch_1.pth"))
    assert trainer.epoch == 2


def test_an_option_of_the_optimizer_that_could_not_be_loaded_is_named_before_anything_is_saved(tmp_path):
    trainer = make(tmp_path, [{"type": "CheckpointHook", "interval": 1}])
    optimizer = Layered(trainer.model.parameters(), 0.1, layers=Path("a"))
    trainer.optimizers = (optimizer, None)
    with pytest.raises(TypeError, match=r"Layered: param_groups\[0\]\['layers'\] is of the type pathlib"):
        trainer.train()
    assert not list(tmp_path.glob("*.pth"))


def test_numpy_values_in_a_hook_s_state_are_resumed(tmp_path):
    held = {"best": np.float64(0.5), "curve": np.arange(3.0), "seen": {np.int64(3)}}
    run(tmp_path, [{"type": "CheckpointHook", "interval": 1}], callbacks=[Counting(held)], epochs=1)
    found = state_of(tmp_path / "epoch_1")["meta"]["adapter"]["hooks"]["Counting-0"]["n"]
    assert (found["best"], list(found["curve"]), found["seen"]) == (0.5, [0, 1, 2], {3})
