from __future__ import annotations

import copy
import pickle

import pytest

from adapter.config import ConfigDict


def nested() -> ConfigDict:
    return ConfigDict({"train": {"hooks": [{"type": "A", "n": 1}], "lr": 0.1}, "pair": ({"k": 1}, 2)})


def test_attributes_reach_every_depth():
    config = nested()
    assert (config.train.hooks[0].type, config.pair[0].k) == ("A", 1)
    assert ConfigDict(a={"b": 1}).a.b == 1


@pytest.mark.parametrize(
    "store",
    [
        lambda c: setattr(c, "new", [{"k": 1}]),
        lambda c: c.__setitem__("new", [{"k": 1}]),
        lambda c: c.setdefault("new", [{"k": 1}]),
        lambda c: c.update(new=[{"k": 1}]),
        lambda c: c.update({"new": [{"k": 1}]}),
        lambda c: c.__ior__({"new": [{"k": 1}]}),
    ],
)
def test_stored_dicts_become_config_dicts(store):
    config = ConfigDict()
    store(config)
    assert config.new[0].k == 1


def test_missing_attribute_is_an_attribute_error_that_names_the_nearest_key():
    config = nested()
    assert not hasattr(config, "val")
    with pytest.raises(AttributeError, match=r"no key 'hook' here; did you mean 'hooks'\?"):
        _ = config.train.hook
    with pytest.raises(KeyError):
        config["val"]


def test_attributes_can_be_deleted():
    config = nested()
    del config.train.lr
    assert "lr" not in config.train
    with pytest.raises(AttributeError, match="lr"):
        del config.train.lr


def test_method_names_stay_methods():
    config = ConfigDict({"items": 3})
    assert list(config.items()) == [("items", 3)]
    with pytest.raises(AttributeError, match=r"cfg\['keys'\]"):
        config.keys = 1


def test_update_merges_nested_dicts():
    config = ConfigDict({"a": {"b": {"c": 1}, "l": [1]}})
    config.update({"a": {"b": {"d": 2}, "l": [2]}})
    assert config == {"a": {"b": {"c": 1, "d": 2}, "l": [2]}}


def test_setdefault_keeps_what_is_there():
    config = nested()
    assert config.train.setdefault("lr", 5) == 0.1


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_deep_copies_share_nothing(duplicate):
    config = nested()
    twin = duplicate(config)
    assert (twin, type(twin)) == (config, ConfigDict)
    twin.train.hooks[0].n = 2
    assert config.train.hooks[0].n == 1


def test_shallow_copy_keeps_the_class_and_shares_values():
    config = nested()
    twin = config.copy()
    twin.train.lr = 5
    twin.extra = 1
    assert type(twin) is ConfigDict
    assert (config.train.lr, "extra" in config) == (5, False)


def test_values_are_copied_in():
    source = {"a": {"b": 1}, "l": [1]}
    config = ConfigDict(source)
    config.a.b = 2
    config.l.append(2)
    assert source == {"a": {"b": 1}, "l": [1]}


def test_to_dict_is_plain_all_the_way_down():
    plain = nested().to_dict()
    assert plain == nested()
    assert {type(plain["train"]), type(plain["train"]["hooks"][0]), type(plain["pair"][0])} == {dict}
    assert type(plain["pair"]) is tuple
