from __future__ import annotations

import os

import pytest

from adapter.config.config import Config
from adapter.errors import ConfigError
from adapter.hooks.hook import Hook
from adapter.plan import Component, LoaderPlan, check_writable, make_plan, priority_of
from adapter.registry import HOOKS
from adapter.schema.hook_list import HookPlan
from tests.golden_cases import NAMES, documented, recording


@pytest.mark.parametrize("name", NAMES)
def test_hooks_run_in_the_recorded_order(name):
    case = recording(name)
    plan = make_plan(documented(case["cfg"]), case["run"])
    assert [*(hook.type for hook in plan.hooks), "Probe"] == case["hook_order"]


def test_pieces():
    plan = make_plan(
        documented(
            {
                "task": "t",
                "model": {"type": "m", "depth": 2},
                "dataset": {"train": {"file": "x"}},
                "preprocessor": [{"type": "p"}],
                "train": {
                    "max_epochs": 3,
                    "dataloader": {"batch_size_per_gpu": 4, "workers_per_gpu": 1, "pin_memory": True},
                    "optimizer": {"type": "SGD", "lr": 0.1, "options": {"cumulative_iters": 2}},
                },
                "evaluation": {
                    "dataloader": {"drop_last": True},
                    "metrics": ["a", {"type": "b", "k": 1}],
                    "val_iters_per_epoch": 7,
                },
            }
        )
    )
    assert (plan.task, plan.max_epochs, plan.val_iters_per_epoch, plan.work_dir) == ("t", 3, 7, "./work_dir")
    assert (plan.model, plan.dataset, plan.preprocessor) == (
        {"type": "m", "depth": 2},
        {"train": {"file": "x"}},
        [{"type": "p"}],
    )
    assert plan.optimizer == Component("SGD", {"lr": 0.1}, "train.optimizer")
    assert plan.lr_scheduler is None
    assert plan.metrics == (
        Component("a", key="evaluation.metrics[0]"),
        Component("b", {"k": 1}, key="evaluation.metrics[1]"),
    )
    assert plan.train_loader == LoaderPlan(4, 1, True, False, {"pin_memory": True})
    assert plan.eval_loader == LoaderPlan(1, 0, False, True)
    assert plan.trainer == {"max_epochs": 3, "limit_val_batches": 7}


@pytest.mark.parametrize(
    ("keyword", "value", "file"),
    [
        ("max_epochs", 9, {"train": {"max_epochs": 3}}),
        ("work_dir", "w", {"train": {"work_dir": "v"}}),
        ("train_iters_per_epoch", 5, {"train": {"train_iters_per_epoch": 4}}),
        ("val_iters_per_epoch", 5, {"evaluation": {"val_iters_per_epoch": 4}}),
    ],
)
def test_a_keyword_wins_over_the_file(keyword, value, file):
    section = next(iter(file.values()))
    assert getattr(make_plan(Config(file), {keyword: value}), keyword) == value
    assert getattr(make_plan(Config(file), {keyword: None}), keyword) == section[keyword]


@pytest.mark.parametrize(
    ("train", "keywords", "strategy", "precision"),
    [
        ({}, {}, "auto", "32-true"),
        ({}, {"launcher": "pytorch"}, "ddp", "32-true"),
        ({}, {"use_fp16": True}, "auto", "16-mixed"),
        ({"use_fp16": True}, {}, "auto", "16-mixed"),
        ({"optimizer_hook": {"type": "ApexAMPOptimizerHook", "opt_level": "O2"}}, {}, "auto", "16-true"),
        ({"optimizer_hook": {"type": "ApexAMPOptimizerHook"}}, {}, "auto", "16-mixed"),
        ({"hooks": [{"type": "DDPHook"}]}, {}, "ddp", "32-true"),
    ],
)
def test_strategy_and_precision(train, keywords, strategy, precision):
    plan = make_plan(Config({"train": train}), keywords)
    assert (plan.strategy, plan.precision) == (strategy, precision)


def test_the_task_s_metric_when_the_config_names_none():
    assert make_plan(Config({"task": "text-classification"})).metrics == (Component("seq-cls-metric", key="task"),)


def test_a_built_in_hook_is_not_given_keys_that_it_does_not_know():
    plan = make_plan(Config({"train": {"logging": {"interval": 2, "colour": "red"}}}))
    assert [hook.args for hook in plan.hooks if hook.type == "TextLoggerHook"] == [{"interval": 2}]


def test_a_hook_of_the_user_s_own_is_given_everything_in_its_place():
    @HOOKS.register_module(module_name="early-bird")
    class EarlyBird(Hook):
        PRIORITY = "HIGHEST"

    try:
        plan = make_plan(Config({"train": {"hooks": [{"type": "early-bird", "worm": 1}]}}))
        assert plan.hooks[0] == HookPlan("early-bird", {"worm": 1}, "train.hooks[0]")
    finally:
        del HOOKS.modules["default"]["early-bird"]


@pytest.mark.parametrize(("name", "priority"), [("CheckpointHook", 70), ("NoSuchHook", 50), ("no.such.Hook", 50)])
def test_priority(name, priority):
    assert priority_of(HookPlan(name)) == priority


@pytest.mark.parametrize(
    "config", [{}, {"train": None}, {"train": 1, "model": 1, "evaluation": 1}, {"train": {"hooks": 1}}]
)
def test_any_config_has_a_plan(config):
    assert [hook.type for hook in make_plan(Config(config)).hooks] == ["OptimizerHook", "LrSchedulerHook"]


@pytest.mark.parametrize(
    ("option", "value", "passed_on"),
    [
        ("pin_memory", True, True),
        ("persistent_workers", True, True),
        ("prefetch_factor", 3, True),
        ("timeout", 5, True),
        ("multiprocessing_context", "spawn", True),
        ("pin_memory_device", "cuda", True),
        ("in_order", False, True),
        ("pin_memry", True, False),
        ("worker_init_fn", "x", False),
        ("collate_fn", "x", False),
        ("type", "x", False),
    ],
)
@pytest.mark.parametrize("section", ["train", "evaluation"])
def test_a_loader_is_given_the_options_it_knows(section, option, value, passed_on):
    plan = make_plan(Config({section: {"dataloader": {"batch_size_per_gpu": 2, option: value}}}))
    loader = plan.train_loader if section == "train" else plan.eval_loader
    assert loader.options == ({option: value} if passed_on else {})


# the work directory


@pytest.mark.parametrize("name", ["", "there", "new", "new/below/it", "link"])
def test_a_folder_that_can_be_used(tmp_path, name):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    before = sorted(tmp_path.rglob("*"))
    check_writable(str(tmp_path / name))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_relative_folder_starts_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_writable("new")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=f"'file/new' cannot be used: '{tmp_path}/file' is not a folder"):
        check_writable("file/new")


@pytest.mark.parametrize("name", ["file", "file/new", "file/new/below"])
def test_a_file_in_the_way_is_named(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError) as caught:
        check_writable(str(tmp_path / name))
    (problem,) = caught.value.problems
    assert problem.key == "train.work_dir"
    assert problem.found == f"'{tmp_path / name}' cannot be used: '{tmp_path / 'file'}' is not a folder"
    assert "--work-dir" in problem.fix


@pytest.fixture
def without_rights(tmp_path):
    """A folder that may not be written to, also by root, who acts as nobody while it is asked."""
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    user = os.getuid()
    if user == 0:
        os.setresuid(65534, 0, 0)
    yield folder
    if user == 0:
        os.setresuid(0, 0, 0)


@pytest.mark.parametrize("name", ["", "new", "new/below"])
def test_a_folder_without_the_rights_is_named(without_rights, name):
    with pytest.raises(ConfigError, match=f"'{without_rights}' cannot be written to"):
        check_writable(str(without_rights / name))
