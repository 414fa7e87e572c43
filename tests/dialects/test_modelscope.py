from __future__ import annotations

from typing import Any

import pytest

from adapter.config.config import Config
from adapter.dialects.modelscope import DEFAULT_HOOKS, merge_default_hooks, move_old_keys
from adapter.dialects.move import Move, notices
from tests.golden_cases import NAMES, documented, recording

WRITTEN_BY_THE_TRAINER = ("work_dir", "save_dir", "out_dir")
PERIOD, LOGGING, TIMER = (
    {"type": "CheckpointHook", "interval": 2},
    {"type": "TextLoggerHook"},
    {"type": "IterTimerHook"},
)


def without_folders(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_folders(item) for key, item in value.items() if key not in WRITTEN_BY_THE_TRAINER}
    return [without_folders(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", NAMES)
def test_config_equals_the_recorded_one(name):
    case = recording(name)
    want = without_folders(case["cfg_after_init"])
    del want["pipeline"]  # the real trainer adds it for the folder it exports
    got = without_folders(documented(case["cfg"]).to_dict())
    if "lr_scheduler_hook" in got["train"]:
        del got["train"]["lr_scheduler_hook"]["type"]  # the real trainer pops it while it builds the hook
    assert got == want


@pytest.mark.parametrize(
    ("train", "hooks"),
    [
        ({}, list(DEFAULT_HOOKS)),
        ({"hooks": None}, list(DEFAULT_HOOKS)),
        ({"hooks": [TIMER]}, [TIMER, *DEFAULT_HOOKS[:2]]),
        ({"hooks": [PERIOD, LOGGING, TIMER]}, [PERIOD, {"type": "TextLoggerHook", "interval": 10}, TIMER]),
        (
            {"hooks": [{"type": "CheckpointHook", "by_epoch": False}]},
            [{"type": "CheckpointHook", "interval": 1, "by_epoch": False}, *DEFAULT_HOOKS[1:]],
        ),
    ],
)
def test_default_hooks_fill_gaps_only(train, hooks):
    config = Config({"train": train})
    merge_default_hooks(config)
    assert config.train.hooks == hooks


@pytest.mark.parametrize(
    "config",
    [{}, {"train": None}, {"train": "fast"}, {"train": {"hooks": "all"}}, {"train": {"hooks": ["x"]}}],
)
def test_odd_sections_are_left_for_the_checks(config):
    moved = documented(config)
    assert config.get("train") in (None, moved.train) or "hooks" in moved.train


def test_new_key_wins_over_the_list():
    config = Config(
        {"train": {"logging": {"interval": 4}, "hooks": [PERIOD, {"type": "TextLoggerHook", "interval": 2}]}}
    )
    moves = move_old_keys(config)
    assert config.train.logging == {"interval": 4}
    assert config.train.checkpoint.period == {"interval": 2}
    assert config.train.hooks == []
    assert [(move.key, move.fate) for move in moves] == [
        ("train.hooks[0]", "moved"),
        ("train.hooks[1]", "dropped"),
    ]
    assert "train.logging is given" in moves[1].reason


def test_last_of_two_hooks_of_one_type_wins():
    config = Config({"train": {"hooks": [PERIOD, TIMER, {"type": "CheckpointHook", "interval": 5}]}})
    moves = move_old_keys(config)
    assert config.train.checkpoint.period == {"interval": 5}
    assert [(move.key, move.to, move.fate) for move in moves] == [
        ("train.hooks[0]", "", "dropped"),
        ("train.hooks[1]", "train.hooks[0]", "same"),
        ("train.hooks[2]", "train.checkpoint.period", "moved"),
    ]


def test_defaults_are_not_worth_a_line_in_the_log():
    config = Config({"train": {"logging": {"interval": 4}, "hooks": [{"type": "EvaluationHook"}]}})
    merge_default_hooks(config)
    assert notices(move_old_keys(config)) == ["train.hooks[0] moved to evaluation.period"]


def test_a_hook_stays_in_the_list_when_its_section_is_no_section():
    config = Config({"train": {"checkpoint": "often", "hooks": [PERIOD]}})
    assert move_old_keys(config) == []
    assert config.train == {"checkpoint": "often", "hooks": [PERIOD]}


def test_replacing_the_list_after_the_defaults_drops_them():
    config = Config({})
    merge_default_hooks(config)
    config.train.hooks = [TIMER]
    assert move_old_keys(config) == []
    assert config == {"train": {"hooks": [TIMER]}}


def test_a_move_reads_as_a_sentence():
    assert str(Move("a", "b", "moved", "why")) == "a moved to b: why"
    assert str(Move("a", "", "dropped")) == "a dropped"


def prepared(train):
    """The train section after the default hooks and the moves, and the moves worth a line in the log."""
    original = Config({"train": train})
    config = Config({"train": train})
    merge_default_hooks(config)
    return config.train, notices(move_old_keys(config, original))


@pytest.mark.parametrize(
    ("section", "filled"),
    [
        (
            {"checkpoint": {"period": {"max_checkpoint_num": 5}}},
            {"checkpoint": {"period": {"max_checkpoint_num": 5, "interval": 1}}},
        ),
        ({"checkpoint": {"period": {"interval": 3}}}, {"checkpoint": {"period": {"interval": 3}}}),
        ({"logging": {"by_epoch": False}}, {"logging": {"by_epoch": False, "interval": 10}}),
        ({"logging": {"interval": 2}}, {"logging": {"interval": 2}}),
    ],
)
def test_arguments_of_a_default_hook_fill_the_section_that_stands_for_it(section, filled):
    train, said = prepared(section)
    assert {name: train[name] for name in filled} == filled
    assert said == []


@pytest.mark.parametrize(
    ("listed", "interval"),
    [
        ({"type": "CheckpointHook", "interval": 1}, 1),  # as the default one
        ({"type": "CheckpointHook", "interval": 4}, 1),  # not a default: fills nothing
    ],
)
def test_a_listed_hook_beside_its_section_is_reported(listed, interval):
    train, said = prepared({"hooks": [listed], "checkpoint": {"period": {"max_checkpoint_num": 5}}})
    assert said == ["train.hooks[0] dropped: train.checkpoint.period is given too, and wins"]
    assert train.checkpoint.period == {"max_checkpoint_num": 5, "interval": interval}
