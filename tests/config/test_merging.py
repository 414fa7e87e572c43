from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter.config import Config
from adapter.config.paths import MISSING, find, leaves
from adapter.errors import ConfigError


def merged(base, options, **how):
    config = Config(copy.deepcopy(base))
    config.merge_from_dict(options, **how)
    return config.to_dict()


BASE = {
    "train": {"hooks": [{"type": "Save", "n": 1}, {"type": "Log"}], "optimizer": {"type": "SGD", "lr": 1}},
    "list": [1, {"q": 2}],
    "none": None,
    "labels": {0: "cat"},
}


@pytest.mark.parametrize(
    ("options", "path", "expected"),
    [
        ({"train.optimizer.lr": 3}, "train.optimizer", {"type": "SGD", "lr": 3}),
        ({"train.optimizer": {"lr": 3}}, "train.optimizer", {"type": "SGD", "lr": 3}),
        (
            {"train": {"optimizer": {"momentum": 0.9}}},
            "train.optimizer",
            {"type": "SGD", "lr": 1, "momentum": 0.9},
        ),
        ({"train.optimizer": {"_delete_": True, "type": "Adam"}}, "train.optimizer", {"type": "Adam"}),
        (
            {"train.optimizer": {"_delete_": False, "k": 1}},
            "train.optimizer",
            {"type": "SGD", "lr": 1, "k": 1},
        ),
        ({"list": {"_delete_": True, "k": 1}}, "list", {"k": 1}),
        ({"new": {"_delete_": True, "k": {"_delete_": True}}}, "new", {"k": {}}),
        ({"new.deep.key": 1}, "new", {"deep": {"key": 1}}),
        ({"train": 5}, "train", 5),
        ({"train": None}, "train", None),
        ({"none.k": 1}, "none", {"k": 1}),
        ({"list": [3]}, "list", [3]),
        ({"list": "text"}, "list", "text"),
        ({"list": [{"type": "T"}]}, "list", [{"type": "T"}]),
        ({"list.1.q": 5}, "list", [1, {"q": 5}]),
        ({"list[1].q": 5}, "list", [1, {"q": 5}]),
        ({"list": {"0": 7}}, "list", [7, {"q": 2}]),
        ({"labels.0": "dog"}, "labels", {0: "dog"}),
        ({"labels": {0: "dog"}}, "labels", {0: "dog"}),
    ],
)
def test_merge(options, path, expected):
    assert find(merged(BASE, options), path) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"train.hooks.Save.n": 9}, [{"type": "Save", "n": 9}, {"type": "Log"}]),
        ({"train.hooks[0].n": 9}, [{"type": "Save", "n": 9}, {"type": "Log"}]),
        ({"train.hooks": [{"type": "Save", "m": 2}]}, [{"type": "Save", "n": 1, "m": 2}, {"type": "Log"}]),
        ({"train.hooks": [{"type": "Log", "m": 2}, {"type": "Stop"}]},
         [{"type": "Save", "n": 1}, {"type": "Log", "m": 2}, {"type": "Stop"}]),
        ({"train.hooks": [{"type": "Log"}, {"type": "Log", "m": 2}]},
         [{"type": "Save", "n": 1}, {"type": "Log"}, {"type": "Log", "m": 2}]),
        ({"train.hooks": [{"type": "Save", "_delete_": True, "m": 2}]},
         [{"type": "Save", "m": 2}, {"type": "Log"}]),
        ({"train.hooks.Save": {"_delete_": True}}, [{"type": "Save"}, {"type": "Log"}]),
        ({"train.hooks.Stop.patience": 3},
         [{"type": "Save", "n": 1}, {"type": "Log"}, {"type": "Stop", "patience": 3}]),
        ({"train.hooks": [1, 2]}, [1, 2]),
        ({"train.hooks": []}, []),
    ],
)  # fmt: skip
def test_lists_of_typed_dicts_merge_by_type(options, expected):
    assert merged(BASE, options)["train"]["hooks"] == expected


def test_an_option_reaches_every_entry_of_its_type():
    base = {"hooks": [{"type": "A", "v": 1}, {"type": "A", "v": 2}]}
    assert merged(base, {"hooks": [{"type": "A", "w": 3}]})["hooks"] == [
        {"type": "A", "v": 1, "w": 3},
        {"type": "A", "v": 2, "w": 3},
    ]


def test_hooks_appended_in_code_are_merged_too():
    config = Config(BASE)
    config.train.hooks.append({"type": "Stop", "options": {"a": 1}})
    config.merge_from_dict({"train.hooks.Stop.options.b": 2})
    assert config.train.hooks[2] == {"type": "Stop", "options": {"a": 1, "b": 2}}


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ({"train.optimizer.lr": 3, "list": [3], "none": 1}, {}),
        ({"train.optimizer": {"_delete_": True, "lr": 3, "new": 4}}, {"train.optimizer.new": 4}),
        ({"train.hooks": [{"type": "Save", "n": 5, "m": 6}]}, {"train.hooks.Save.m": 6}),
        ({"brand.new": 1}, {"brand": {"new": 1}}),
        ({"train.optimizer.lr.below": 1, "list": {"_delete_": True}}, {}),
    ],
)
def test_without_force_only_gaps_are_filled(options, changed):
    result = merged(BASE, options, force=False)
    assert {path: find(result, path) for path in changed} == changed
    for path, value in leaves(BASE):
        assert find(result, path) == value


@pytest.mark.parametrize(
    ("options", "key", "message"),
    [
        ({"list.5": 1}, "list.5", "no such entry in a list of 2"),
        ({"train.hooks[7].n": 1}, "train.hooks[7]", "no such entry in a list of 2"),
        ({"list.Save.n": 1}, "list.Save", "no such entry"),
        ({"train.hooks.Save": 5}, "train.hooks.Save", "no such entry"),
        ({"train.optimizer.lr.k": 1}, "train.optimizer.lr", "below the value 1"),
        ({"train.optimizer.type": {"k": 1}}, "train.optimizer.type", "below the value 'SGD'"),
    ],
)
def test_refused(options, key, message):
    with pytest.raises(ConfigError, match=message) as caught:
        merged(BASE, options)
    assert caught.value.problems[0].key == key


def test_entering_lists_can_be_switched_off():
    with pytest.raises(ConfigError):
        merged(BASE, {"list.1.q": 5}, allow_list_keys=False)


def test_merging_happens_in_place_and_copies_the_options():
    config = Config(BASE)
    hooks, options = config.train.hooks, {"train.hooks": [{"type": "Stop", "list": [1]}]}
    config.merge_from_dict(options)
    hooks[2].list.append(2)
    assert config.train.hooks is hooks
    assert options == {"train.hooks": [{"type": "Stop", "list": [1]}]}


few = settings(max_examples=40, deadline=None)  # the machine may be busy
KEYS = st.text("abc", min_size=1, max_size=2)
VALUES = st.recursive(
    st.integers() | st.none() | st.text("xyz"),
    lambda below: st.dictionaries(KEYS, below, max_size=3),
    max_leaves=12,
)
TREES = st.dictionaries(KEYS, VALUES, max_size=4)


@few
@given(TREES, TREES)
def test_flat_and_nested_options_agree(base, options):
    """Every leaf of the options is there afterwards, whether it was given nested or by its dotted key."""
    try:
        nested = merged(base, options)
    except ConfigError:  # keys below a value
        return
    flat = merged(base, {path: value for path, value in leaves(options) if value != {}})
    for path, value in leaves(options):
        if value != {}:
            assert find(nested, path) == find(flat, path) == value


@few
@given(TREES, TREES)
def test_without_force_nothing_is_lost(base, options):
    try:
        result = merged(base, options, force=False)
    except ConfigError:
        return
    for path, value in leaves(base):
        if value != {}:
            assert find(result, path) == value


@few
@given(TREES)
def test_merging_a_config_into_itself_changes_nothing(base):
    assert merged(base, base) == base


@few
@given(TREES, KEYS)
def test_delete_replaces(base, key):
    assert merged(base, {key: {"_delete_": True, "only": 1}})[key] == {"only": 1}
    assert find(base, "zz") is MISSING
