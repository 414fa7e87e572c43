from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from adapter import HOOKS, BaseTrainer, ConfigError, EpochBasedTrainer, Hook, Priority
from adapter.hooks.evaluation import EvaluationHook
from adapter.hooks.iter_timer import IterTimerHook


class Walk(BaseTrainer):
    """Two epochs of two iterations of nothing."""

    def train(self) -> None:
        for _ in range(2):
            self.begin_epoch()
            for _ in range(2):
                self.begin_iter()
                self.invoke_hook("after_train_iter")
                self.end_iter()
            self.end_epoch()

    def evaluate(self, checkpoint_path: str | None = None) -> dict[str, Any]:
        return {}


class Places(Hook):
    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    def note(self, stage: str, trainer: BaseTrainer) -> None:
        self.seen.append((stage, trainer.epoch, trainer.iter, trainer.inner_iter, trainer.next_place))

    def before_epoch(self, trainer: Any) -> None:
        self.note("before_epoch", trainer)

    def before_iter(self, trainer: Any) -> None:
        self.note("before_iter", trainer)

    def after_iter(self, trainer: Any) -> None:
        self.note("after_iter", trainer)

    def after_epoch(self, trainer: Any) -> None:
        self.note("after_epoch", trainer)


def test_it_is_abstract() -> None:
    assert BaseTrainer.__abstractmethods__ == {"train", "evaluate"}
    with pytest.raises(TypeError, match="abstract"):
        BaseTrainer({})


def test_where_the_run_is_at_each_stage() -> None:
    trainer, places = Walk({}), Places()
    trainer.register_hook(places)
    trainer.train()
    assert places.seen == [
        ("before_epoch", 0, 0, 0, (0, 1, 1)),
        ("before_iter", 0, 0, 0, (0, 1, 1)),
        ("after_iter", 0, 0, 0, (0, 1, 1)),
        ("before_iter", 0, 1, 1, (0, 2, 2)),
        ("after_iter", 0, 1, 1, (0, 2, 2)),
        ("after_epoch", 0, 2, 1, (1, 2, 0)),
        ("before_epoch", 1, 2, 0, (1, 3, 1)),
        ("before_iter", 1, 2, 0, (1, 3, 1)),
        ("after_iter", 1, 2, 0, (1, 3, 1)),
        ("before_iter", 1, 3, 1, (1, 4, 2)),
        ("after_iter", 1, 3, 1, (1, 4, 2)),
        ("after_epoch", 1, 4, 1, (2, 4, 0)),
    ]
    assert (trainer.epoch, trainer.iter, trainer.inner_iter) == (2, 4, 0)


@pytest.mark.parametrize("stage", ["begin_epoch", "begin_iter"])
def test_training_goes_on_in_training_mode(stage: str) -> None:
    trainer = Walk({})
    trainer.mode = "eval"
    getattr(trainer, stage)()
    assert trainer.mode == "train"


def test_it_starts_with_a_config_and_empty_buffers(tmp_path: Path) -> None:
    path = tmp_path / "configuration.json"
    path.write_text(json.dumps({"train": {"max_epochs": 3}}))
    trainer = Walk(path, lambda words: int(words[1]) + 1)
    assert trainer.cfg.train.max_epochs == 3
    assert trainer.args == 4
    assert Walk({}).args is None
    assert trainer.mode == "train"
    assert not trainer.stop_requested
    assert (trainer.log_buffer.output, trainer.visualization_buffer.output, list(trainer.hooks)) == ({}, {}, [])
    assert trainer.log_buffer is not trainer.visualization_buffer
    assert re.fullmatch(r"\d{8}_\d{6}", trainer.timestamp)


def test_stopping_is_a_flag() -> None:
    trainer = Walk({})
    trainer._stop_training = True
    assert trainer.stop_requested


def test_python_configs_need_trust(tmp_path: Path) -> None:
    path = tmp_path / "config.py"
    path.write_text("task = 'x'\n")
    with pytest.raises(ConfigError, match="trust_remote_code"):
        Walk(path)
    assert Walk(path, trust_remote_code=True).cfg.task == "x"


@pytest.mark.parametrize(
    ("variables", "main"),
    [({}, True), ({"RANK": "0", "LOCAL_RANK": "1"}, True), ({"RANK": "1"}, False), ({"LOCAL_RANK": "1"}, False)],
)
def test_one_process_of_many_is_the_main_one(
    variables: dict[str, str], main: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert Walk({}).is_main_process is main


# Hooks


class First(Hook):
    PRIORITY = Priority.HIGH


class Second(Hook):
    PRIORITY = "high"


class Late(Hook):
    PRIORITY = 99

    def before_run(self, trainer: Any) -> None:
        trainer.called = [*getattr(trainer, "called", []), type(self).__name__]


class Later(Late):
    def my_stage(self, trainer: Any) -> None:
        trainer.called = ["my_stage"]


def test_hooks_run_by_priority_then_in_order_of_registration() -> None:
    trainer = Walk({})
    for cls in (Late, Later, First, Second):
        trainer.register_hook(cls())
    assert [type(hook).__name__ for hook in trainer.hooks] == ["First", "Second", "Late", "Later"]
    trainer.invoke_hook("before_run")
    assert trainer.called == ["Late", "Later"]


def test_a_stage_of_the_users_own_can_be_invoked() -> None:
    trainer = Walk({})
    for cls in (Late, Later):
        trainer.register_hook(cls())
    trainer.invoke_hook("my_stage")
    assert trainer.called == ["my_stage"]


def test_get_hook_finds_hooks_of_exactly_that_class() -> None:
    trainer = Walk({})
    hooks = [Late(), Later(), Late()]
    for hook in hooks:
        trainer.register_hook(hook)
    assert trainer.get_hook(Late) == [hooks[0], hooks[2]]
    assert trainer.get_hook(Hook) == []


@pytest.mark.parametrize("thing", ["IterTimerHook", None, IterTimerHook])
def test_only_hooks_can_be_registered(thing: Any) -> None:
    with pytest.raises(TypeError, match=r"must be an instance of adapter\.Hook"):
        Walk({}).register_hook(thing)


def test_hooks_from_config_one_or_many_are_built_added_and_returned() -> None:
    trainer = Walk({})
    (timer,) = trainer.register_hook_from_cfg({"type": "IterTimerHook"})
    evaluation, late = trainer.register_hook_from_cfg(
        [{"type": "EvaluationHook", "interval": 7}, {"type": f"{__name__}.Late"}]
    )
    assert isinstance(timer, IterTimerHook)
    assert isinstance(evaluation, EvaluationHook)
    assert evaluation.interval == 7
    assert list(trainer.hooks) == [evaluation, timer, late]


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"type": "IterTimerHok"}, "unknown hook 'IterTimerHok'. Did you mean 'IterTimerHook'?"),
        ({"type": "IterTimerHook", "every": 2}, "IterTimerHook takes no argument 'every'"),
        ({"type": "collections.OrderedDict"}, "'collections.OrderedDict' is no hook"),
        ({"interval": 1}, "type: a hook without a type: {'interval': 1}"),
    ],
)
def test_hooks_from_a_wrong_config_are_refused(config: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Walk({}).register_hook_from_cfg([config])
    assert text in str(caught.value)


def test_the_hook_table_names_each_stage_that_a_hook_acts_in() -> None:
    trainer = Walk({})
    for cls in (Late, First, IterTimerHook):
        trainer.register_hook(cls())
    blocks = trainer.get_hook_info().split("Stage: ")
    assert [block.split(":")[0] for block in blocks[1:]] == [
        "before_run",
        "before_train_epoch",
        "before_train_iter",
        "after_train_iter",
    ]
    assert [row.split()[-1] for row in blocks[1].splitlines()[1:3]] == ["IterTimerHook", "Late"]
    assert "(99          ) Late" in blocks[1]
    assert "(LOW         ) IterTimerHook" in blocks[3]


def test_the_documented_trainer_is_one() -> None:
    assert issubclass(EpochBasedTrainer, BaseTrainer)
    assert "EvaluationHook" in HOOKS.names()
