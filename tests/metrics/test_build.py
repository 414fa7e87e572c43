import sys

import pytest
import torchmetrics
from torch import nn
from torchmetrics.classification import BinaryAccuracy

from adapter.errors import ConfigError
from adapter.metrics.build import build_metrics, keep_apart
from adapter.metrics.metric import Metric
from adapter.metrics.task_metrics import DEFAULTS, task_default_metrics
from adapter.plan import Component
from adapter.registry import METRICS


class CountMetric(Metric):
    """A user's own: the number of batches, times a factor."""

    def __init__(self, factor=1):
        self.factor, self.count = factor, 0

    def add(self, outputs, inputs):
        self.count += self.factor

    def evaluate(self):
        return {"count": self.count}

    def merge(self, other):
        self.count += other.count


def test_each_component_gives_a_metric_in_order():
    metrics = build_metrics([Component("accuracy"), Component("loss-metric", {"loss_key": "nll"})])
    assert [type(metric).__name__ for metric in metrics] == ["AccuracyMetric", "LossMetric"]
    assert metrics[1].loss_key == "nll"


def test_the_users_own_metric_by_registered_name_and_import_path(monkeypatch):
    monkeypatch.setattr(METRICS, "_modules", {"default": {"my-count": CountMetric}})
    path = f"{CountMetric.__module__}.CountMetric"
    for metric in build_metrics([Component("my-count", {"factor": 2}), Component(path, {"factor": 2})]):
        metric.add({}, {})
        assert metric.evaluate() == {"count": 2}


def test_all_problems_are_reported_at_once():
    components = [
        Component("seq-cls-metrics"),
        Component("collections.OrderedDict"),
        Component("loss-metric", {"los_key": "x"}),
        Component("accuracy"),
    ]
    with pytest.raises(ConfigError) as caught:
        build_metrics(components)
    assert [(problem.key, problem.nearest) for problem in caught.value.problems] == [
        ("evaluation.metrics[0].type", "seq-cls-metric"),
        ("evaluation.metrics[1].type", ""),
        ("evaluation.metrics[2].los_key", "loss_key"),
    ]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("text-classification", ("seq-cls-metric",)),
        ("nli", ("seq-cls-metric",)),
        ("token-classification", ("token-cls-metric",)),
        ("text-generation", ("text-gen-metric",)),
        ("chat", ("text-gen-metric",)),
        ("image-denoising", ("image-denoise-metric",)),
        ("visual-question-answering", ("accuracy",)),
        ("efficient-diffusion-tuning", ("loss-metric",)),
        ("image-classification", ("accuracy",)),
        ("text-regression", ("loss-metric",)),
        ("my-task", ()),
        (None, ()),
    ],
)
def test_default_metrics_of_a_task(task, expected):
    assert task_default_metrics(task) == expected


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(METRICS, "_modules", {"default": {}})
    monkeypatch.delitem(sys.modules, "adapter.metrics.bleu_metric", raising=False)
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(ConfigError, match="bleu needs the package sacrebleu") as caught:
        build_metrics([Component("bleu"), Component("accuracy")])
    assert "pip install sacrebleu, or 'ms-lightning-adapter[metrics]'" in caught.value.problems[0].fix


def test_every_task_with_a_default_has_at_least_one_name():
    assert all(names and all(isinstance(name, str) for name in names) for names in DEFAULTS.values())


@pytest.mark.parametrize(
    "hold",
    [
        lambda part: part,
        lambda part: [1, part],
        lambda part: (part, None),
        lambda part: nn.ModuleDict({"a": part}),
        lambda part: torchmetrics.MetricCollection([part]),
    ],
)
def test_what_a_metric_holds_does_not_merge_by_itself(hold):
    metric, part = CountMetric(), BinaryAccuracy()
    metric.held = hold(part)
    part.distributed_available_fn = lambda: True
    keep_apart(metric)
    assert part.distributed_available_fn() is False
