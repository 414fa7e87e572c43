from __future__ import annotations

import pytest

from adapter import ConfigError
from adapter.hooks.strategy import by_epoch_of


@pytest.mark.parametrize(
    ("strategy", "by_epoch", "expected"),
    [
        (None, True, True),
        (None, False, False),
        ("by_epoch", False, True),
        ("by_step", True, False),
        ("no", True, None),
    ],
)
def test_newer_spelling_wins(strategy, by_epoch, expected):
    assert by_epoch_of("save_strategy", strategy, by_epoch) is expected


def test_unknown_strategy():
    with pytest.raises(ConfigError) as caught:
        by_epoch_of("save_strategy", "by_steps", True)
    (problem,) = caught.value.problems
    assert str(problem) == "save_strategy: found 'by_steps'; allowed: by_epoch, by_step, no. Did you mean 'by_step'?"
