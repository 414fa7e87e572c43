"""A process on its own; several of them are in tests/distributed/test_scenarios.py."""

from __future__ import annotations

import pytest

from adapter.processes import Processes


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda alone: alone.broadcast("a"), "a"),
        (lambda alone: alone.gather("a"), ["a"]),
        (lambda alone: alone.gather_to_main("a"), ["a"]),
        (lambda alone: (alone.any(True), alone.any(False)), (True, False)),
        (lambda alone: (alone.ask(3), alone.ask(0), alone.ask(3, at_once=True)), (3, 0, 3)),
        (lambda alone: (alone.connect(), alone.wait()), (None, None)),
        (lambda alone: (alone.rank, alone.size, alone.share, alone.shares), (0, 1, 0, 1)),
    ],
)
def test_it_answers_itself_at_once(call, expected):
    assert call(Processes()) == expected
