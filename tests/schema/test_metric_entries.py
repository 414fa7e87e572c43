from __future__ import annotations

import pytest

from adapter.schema.metric_entries import default_metrics, metric_entries


@pytest.mark.parametrize(
    ("metrics", "entries"),
    [
        ("f1", {"evaluation.metrics": "f1"}),
        ({"type": "f1"}, {"evaluation.metrics": {"type": "f1"}}),
        (["f1", {"type": "ppl"}], {"evaluation.metrics[0]": "f1", "evaluation.metrics[1]": {"type": "ppl"}}),
        ([], {}),
        (None, {}),
    ],
)
def test_metric_entries(metrics, entries):
    assert metric_entries({"evaluation": {"metrics": metrics}}) == entries


@pytest.mark.parametrize(
    ("task", "names"),
    [("text-classification", ("seq-cls-metric",)), ("unheard-of", ()), (None, ()), (["x"], ())],
)
def test_default_metrics(task, names):
    assert default_metrics({"task": task}) == names
