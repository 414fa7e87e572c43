from __future__ import annotations

import pytest

from adapter import ConfigError, Priority
from adapter.hooks.priority import get_priority

DOCUMENTED = {
    "HIGHEST": 0,
    "VERY_HIGH": 10,
    "HIGH": 30,
    "ABOVE_NORMAL": 40,
    "NORMAL": 50,
    "BELOW_NORMAL": 60,
    "LOW": 70,
    "VERY_LOW": 90,
    "LOWEST": 100,
}


def test_documented_names():
    assert {priority.name: priority.value for priority in Priority} == DOCUMENTED


@pytest.mark.parametrize(
    ("given", "number"),
    [(Priority.HIGH, 30), ("HIGH", 30), ("very_low", 90), (0, 0), (55, 55), (100, 100)],
)
def test_number(given, number):
    assert get_priority(given) == number


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (101, "found 101; allowed: 0 to 100 or one of HIGHEST"),
        (-1, "found -1"),
        (1.5, "found 1.5"),
        (True, "found True"),
        (None, "found None"),
        ("LOWER", "Did you mean 'LOW'?"),
    ],
)
def test_refused(given, text):
    with pytest.raises(ConfigError) as caught:
        get_priority(given)
    assert text in str(caught.value)
