"""Lists of labels, and numbers for what is in them."""

from __future__ import annotations

import pytest

from adapter import ConfigError
from adapter.data.labels import Labels, declared_labels, distinct_labels


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({"dataset": {"train": {"labels": ["no", "yes"]}}, "model": {"num_labels": 5}}, ("no", "yes")),
        ({"dataset": {"train": [{"labels": ["no", "yes"]}]}}, ("no", "yes")),
        ({"preprocessor": {"label2id": {"yes": 1, "no": 0}}}, ("no", "yes")),
        ({"preprocessor": {"train": {"label2id": {"yes": 1, "no": 0}}}}, ("no", "yes")),
        ({"model": {"id2label": {"1": "yes", "0": "no"}}}, ("no", "yes")),
        ({"model": {"label2id": {"yes": 1, "no": 0}}}, ("no", "yes")),
        ({"model": {"num_labels": 3}}, (0, 1, 2)),
    ],
)
def test_a_config_lists_them(config, names) -> None:
    assert declared_labels(config).names == names


@pytest.mark.parametrize(
    "config", [{}, {"dataset": {"train": None}, "model": {"num_labels": 1}, "preprocessor": [{"type": "x"}]}]
)
def test_a_config_that_lists_none(config) -> None:
    assert declared_labels(config) is None


@pytest.mark.parametrize(
    ("values", "names"), [(["b", "a", "b"], ("a", "b")), ([10, 9, None], (9, 10)), ([1, "a"], (1, "a"))]
)
def test_distinct_ones_are_sorted(values, names) -> None:
    assert distinct_labels(values).names == names


def test_numbers() -> None:
    labels = Labels((1, 5))
    assert labels.id2label == {0: "1", 1: "5"}
    assert labels.encode([5, 1, "5"], "") == [1, 0, 1]


def test_a_label_outside_the_list_is_refused_by_row() -> None:
    with pytest.raises(ConfigError, match=r"row 12 of a\.csv has the label 'yse'.*no, yes.*Did you mean 'yes'"):
        Labels(("no", "yes")).encode(["no", "yse"], "a.csv", first=10)
