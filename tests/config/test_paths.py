from __future__ import annotations

import pytest

from adapter.config.paths import MISSING, child, find, leaves, steps

TREE = {
    "train": {"hooks": [{"type": "A", "n": 1}, {"type": "B", "n": 2}, {"type": "A", "n": 3}], "none": None},
    "grid": [[1, 2], [3]],
    "labels": {0: "cat", "1": "dog"},
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("train.hooks", ["train", "hooks"]),
        ("train.hooks[1].type", ["train", "hooks", 1, "type"]),
        ("grid[0][10]", ["grid", 0, 10]),
        ("hooks.A.n", ["hooks", "A", "n"]),
        ("mrr@5", ["mrr@5"]),
    ],
)
def test_steps(path, expected):
    assert steps(path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("train.hooks[1].n", 2),
        ("train.hooks.1.n", 2),
        ("train.hooks.A.n", 1),
        ("train.hooks.B", {"type": "B", "n": 2}),
        ("train.none", None),
        ("grid[0][1]", 2),
        ("labels.0", "cat"),
        ("labels.1", "dog"),
        ("train.hooks.C.n", MISSING),
        ("train.hooks[3]", MISSING),
        ("train.none.deeper", MISSING),
        ("grid.A", MISSING),
        ("train[0]", MISSING),
        ("", MISSING),
    ],
)
def test_find(path, expected):
    assert find(TREE, path) == expected


@pytest.mark.parametrize(
    ("path", "step", "expected"),
    [("", "a", "a"), ("a", "b", "a.b"), ("a", 0, "a[0]"), ("a[0]", 1, "a[0][1]")],
)
def test_child(path, step, expected):
    assert child(path, step) == expected


def test_leaves_lists_every_value_and_empty_containers():
    tree = {"a": {"b": 1, "c": []}, "l": [1, {"k": {}}], 3: None}
    assert dict(leaves(tree)) == {"a.b": 1, "a.c": [], "l[0]": 1, "l[1].k": {}, "3": None}
