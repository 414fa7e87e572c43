from __future__ import annotations

import pytest

from adapter.dialects.move import covers


@pytest.mark.parametrize(
    ("key", "path", "covered"),
    [
        ("a.b", "a.b", True),
        ("a.b", "a.b.c", True),
        ("a.b", "a.b[0]", True),
        ("a.b", "a.bc", False),
        ("a.b", "a", False),
        ("a[1]", "a[10]", False),
    ],
)
def test_covers(key, path, covered):
    assert covers(key, path) is covered
