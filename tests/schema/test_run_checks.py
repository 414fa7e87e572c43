from __future__ import annotations

import copy
from typing import Any

import pytest

from adapter.config.config import Config
from adapter.prepare import prepare, problems_of
from tests.conftest import CORPUS
from tests.runner import tiny  # noqa: F401  # registers what the config names

GOOD: dict[str, Any] = {
    "model": {"arch": "tiny"},
    "dataset": {"train_cfg": {"name": "map_data", "n": 8}, "val_cfg": {"name": "map_data", "n": 4}},
    "run": {"task": "tiny_cls", "lr_sched": "constant_lr", "init_lr": 0.1, "max_epoch": 2, "batch_size": 4},
}


def problems(changes: dict[str, Any]) -> dict[str, str]:
    """Key to text, for the good config with changes."""
    config = Config(copy.deepcopy(GOOD))
    config.merge_from_dict(changes)
    return {problem.key: str(problem) for problem in problems_of(prepare(config))}


def test_nothing_is_wrong_with_a_good_config():
    assert problems({}) == {}


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"model.arch": "tinny"}, "model.arch", "unknown model 'tinny'. Did you mean 'tiny'?"),
        ({"model": {"_delete_": True, "x": 1}}, "model.arch", "not given"),
        ({"model": None}, "model", "the section is missing"),
        ({"model": 3}, "model", "found 3; allowed: a mapping"),
        ({"run.task": "tiny_clss"}, "run.task", "Did you mean 'tiny_cls'?"),
        ({"run.task": None}, "run.task", "not given"),
        ({"run.lr_sched": "constant"}, "run.lr_sched", "Did you mean 'constant_lr'?"),
        ({"run.lr_sched": "linear_warmup_step_lr"}, "run.lr_decay_rate", "not given"),
        ({"run.init_lr": None}, "run.init_lr", "not given"),
        ({"run.init_lr": "fast"}, "run.init_lr", 'found "fast"; allowed: a number of 0 or more'),
        ({"run.max_epoch": None}, "run.max_epoch", "max_iters and iters_per_inner_epoch"),
        ({"run.max_epoch": 0}, "run.max_epoch", "an integer of 1 or more"),
        ({"run.batch_size": None}, "run.batch_size", "not given"),
        ({"run.runner": "runner_itr"}, "run.runner", "runner_base, runner_iter, deepspeed_runner"),
        ({"run.warmup_scope": "all"}, "run.warmup_scope", "epoch, global"),
        ({"run.hooks": [{"type": "EarlyStopHok"}]}, "run.hooks[0].type", "Did you mean 'EarlyStopHook'?"),
        ({"run.hooks": [{"type": "IterTimerHook"}, {"type": "EarlyStopping"}]}, "run.hooks[1].monitor", "needs"),
        ({"run.hooks": [{"typ": "x"}]}, "run.hooks[0].type", "not given"),
        ({"run.test_splits": ["test"]}, "dataset.test_cfg.name", "not given"),
        ({"run.batch_size_train": 8}, "run.batch_size_train", "found 8, but run.batch_size, the same setting, is 4"),
        ({"run.runner": "runner_iter", "run.max_iters": 9}, "run.iters_per_inner_epoch", "not given"),
        ({"run.max_epoch": None, "run.iters_per_inner_epoch": 9}, "run.max_iters", "not given"),
        ({"run": None}, "run", "the section is missing"),
        ({"dataset.train_cfg.transform": "image"}, "dataset.train_cfg.transform", "found 'image'; allowed: a mapping"),
        ({"dataset": None, "datasets": {"map_data": "x"}}, "datasets.map_data", "found 'x'; allowed: a mapping"),
        (
            {"dataset": None, "datasets": {"map_data": {"vis_processor": {"eval": "image"}}}},
            "datasets.map_data.vis_processor.eval",
            "found 'image'; allowed: a mapping",
        ),
        ({"run.hooks": [{"type": "OptimizerHook"}]}, "run.hooks[0].type", "would run beside"),
        ({"dataset.train_cfg.name": "map_dta"}, "dataset.train_cfg.name", "Did you mean 'map_data'?"),
        ({"dataset.val_cfg.transform": {"name": "image_eval"}}, "dataset.val_cfg.transform.name", "image_eval_proc"),
        ({"dataset": {"_delete_": True}}, "dataset", "the section is missing"),
        ({"datasets": {"map_data": {"n": 1}}}, "datasets", "given beside dataset"),
        ({"dataset": {"_delete_": True, "val_cfg": {"name": "map_data"}}}, "dataset.train_cfg.name", "not given"),
    ],
)
def test_a_problem_names_its_key(changes, key, said):
    found = problems(changes)
    assert said in found[key]


def test_what_is_missing_is_said_once():
    assert list(problems({"run.max_epoch": None, "run.iters_per_inner_epoch": 9})) == ["run.max_iters"]


def test_an_evaluation_needs_less():
    evaluation = {"task": "tiny_cls", "evaluate": True, "batch_size_eval": 4}
    data = {"_delete_": True, "val_cfg": {"name": "map_data"}}
    assert problems({"run": {"_delete_": True, **evaluation}, "dataset": data}) == {}
    found = problems({"run": {"_delete_": True, **evaluation}, "dataset": {"_delete_": True, "train_cfg": {}}})
    assert "no data to evaluate on" in found["run.evaluate"]


@pytest.mark.parametrize("path", sorted((CORPUS / "lavis").glob("*")), ids=lambda path: path.stem)
def test_public_configs_lack_only_what_is_not_at_hand(path):
    """Nothing of the wrong type or range; only names, and sections of files that are meant to be merged."""
    assert {problem.kind for problem in problems_of(prepare(Config.from_file(path)))} <= {"name", "missing"}
