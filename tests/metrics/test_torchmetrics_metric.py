import pickle

import pytest
import torch
import torchmetrics

from adapter.errors import ConfigError
from adapter.metrics import torchmetrics_metric
from adapter.metrics.build import build_metrics
from adapter.plan import Component

AUROC = {"task": "multiclass", "num_classes": 4}


def metric_of(name, args=None):
    return build_metrics([Component(name, args or {}, key="evaluation.metrics[0]")])[0]


@pytest.fixture
def data():
    torch.manual_seed(0)
    return torch.randn(21, 4), torch.randint(0, 4, (21,))


@pytest.mark.parametrize("buffer", [1, 30, 1 << 20])
@pytest.mark.parametrize(
    ("name", "args"),
    [("AUROC", AUROC), ("F1Score", {**AUROC, "average": "macro"}), ("torchmetrics.Accuracy", AUROC)],
)
def test_values_equal_torchmetrics_own(monkeypatch, data, name, args, buffer):
    monkeypatch.setattr(torchmetrics_metric, "BUFFER", buffer)
    metric = metric_of(name, args)
    own = getattr(torchmetrics, name.rpartition(".")[2])(**args)
    for logits, labels in zip(*(part.split(4) for part in data), strict=True):
        metric.add({"logits": logits}, {"labels": labels})
        own.update(logits, labels)
    assert metric.evaluate() == {name: pytest.approx(float(own.compute()), rel=1e-6)}


@pytest.mark.parametrize(
    ("name", "args", "outputs", "inputs", "expected"),
    [
        ("MeanSquaredError", {}, {"preds": torch.ones(2)}, {"label": torch.tensor([1.0, 3])},
         {"MeanSquaredError": 2.0}),
        ("MeanSquaredError", {}, {"logits": torch.ones(2, 1)}, {"label": torch.tensor([1.0, 3])},
         {"MeanSquaredError": 2.0}),
        ("MeanSquaredError", {"name": "mse"}, {"preds": [1.0, 1]}, {"labels": [1.0, 3]}, {"mse": 2.0}),
        ("MeanSquaredError", {"logit_name": "y", "label_name": "t"}, {"y": torch.ones(2), "preds": 0.0},
         {"t": torch.ones(2), "labels": 0.0}, {"MeanSquaredError": 0.0}),
        ("Accuracy", {"task": "multiclass", "num_classes": 2, "average": "none"}, {"logits": torch.eye(2)},
         {"labels": torch.tensor([0, 0])}, {"Accuracy": [0.5, 0.0]}),
        ("torchmetrics.text.CharErrorRate", {"name": "cer"}, {"preds": ["ab", "cd"]},
         {"labels": ["ab", "ce"]}, {"cer": 0.25}),
    ],
)  # fmt: skip
def test_columns_names_and_kinds_of_value(name, args, outputs, inputs, expected):
    metric = metric_of(name, args)
    metric.add(outputs, inputs)
    assert metric.evaluate() == expected


def test_batches_of_different_shapes_are_not_put_together():
    metric = metric_of("MeanSquaredError")
    for width in (2, 3, 3):
        metric.add({"preds": torch.zeros(1, width)}, {"labels": torch.ones(1, width)})
    assert metric.evaluate() == {"MeanSquaredError": 1.0}


@pytest.mark.parametrize("name", ["AUROC", "Accuracy"])
def test_merged_metrics_count_every_sample_once(data, name):
    whole, one, two = (metric_of(name, AUROC) for _ in range(3))
    for metric, part in ((whole, slice(None)), (one, slice(0, 11)), (two, slice(11, None))):
        metric.add({"logits": data[0][part]}, {"labels": data[1][part]})
    one.merge(pickle.loads(pickle.dumps(two)))
    assert one.evaluate() == whole.evaluate()


@pytest.mark.parametrize(
    ("name", "args", "told"),
    [
        ("AUROC", {"task": "multiclas", "num_classes": 4}, "refuses its arguments"),
        ("AUROC", {}, "needs 'task'"),
        ("Accuracy", {**AUROC, "num_clases": 3}, "refuses its arguments"),
    ],
)
def test_wrong_arguments_are_refused(name, args, told):
    with pytest.raises(ConfigError, match=told):
        metric_of(name, args)
