from __future__ import annotations

import pytest

from adapter.plan import accepted_arguments, hook_class
from adapter.registry import HOOKS
from adapter.schema.field import documented_keys
from adapter.schema.hooks import ARGUMENTS


def test_the_documented_hooks_are_the_built_in_ones():
    built_in = {name for name in HOOKS.names() if hook_class(name).__module__.startswith("adapter.hooks.")}
    assert built_in == set(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_argument_of_a_class_is_documented(name):
    assert accepted_arguments(hook_class(name)) <= set(documented_keys(ARGUMENTS[name]))
