from __future__ import annotations

import pytest

from adapter.plan import accepted_arguments, hook_class
from adapter.registry import HOOKS
from adapter.schema.field import documented_keys
from adapter.schema.hooks import DOCUMENTED, unavailable

AVAILABLE = sorted(name for name in DOCUMENTED if name in HOOKS)


def test_every_built_in_hook_is_documented():
    built_in = {name for name in HOOKS.names() if hook_class(name).__module__.startswith("adapter.hooks.")}
    assert built_in <= set(DOCUMENTED)


@pytest.mark.parametrize("name", AVAILABLE)
def test_every_argument_of_a_class_is_documented(name):
    assert accepted_arguments(hook_class(name)) <= set(documented_keys(DOCUMENTED[name][1]))


@pytest.mark.parametrize("name", AVAILABLE)
def test_documented_priority_is_the_class_s(name):
    assert DOCUMENTED[name][0] == hook_class(name).PRIORITY


@pytest.mark.parametrize(("name", "answer"), [("CheckpointHook", False), ("MyHook", False), (None, False)])
def test_unavailable(name, answer):
    assert unavailable(name) is answer
