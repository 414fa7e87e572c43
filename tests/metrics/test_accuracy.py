import pickle

import pytest
import torch

from adapter.metrics import accuracy
from adapter.metrics.accuracy import AccuracyMetric

PREDICTED, TRUTH = torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1, 0, 0])


@pytest.mark.parametrize(
    ("outputs", "inputs", "expected"),
    [
        ({"labels": PREDICTED}, {"label": TRUTH}, 0.5),
        ({"labels": PREDICTED.tolist()}, {"labels": TRUTH.tolist()}, 0.5),
        ({"logits": torch.eye(4)}, {"labels": TRUTH}, 0.5),
        ({"logits": torch.eye(4).reshape(2, 2, 4)}, {"labels": TRUTH.reshape(2, 2)}, 0.5),
        ({"labels": PREDICTED[:, None]}, {"labels": TRUTH}, 0.5),
        ({"labels": PREDICTED, "logits": torch.zeros(4, 4)}, {"labels": TRUTH}, 0.5),
        ({"labels": PREDICTED}, {"label": PREDICTED, "labels": TRUTH}, 1.0),
        ({"labels": ["a", "b"]}, {"labels": ["a", "c"]}, 0.5),
        ({"text": ["a", "b"]}, {"text": ["a", "b"]}, 1.0),
    ],
)
def test_columns_it_takes(outputs, inputs, expected):
    metric = AccuracyMetric()
    metric.add(outputs, inputs)
    assert metric.evaluate() == {"accuracy": expected}


def test_a_ragged_last_batch_counts_by_its_samples():
    metric = AccuracyMetric()
    metric.add({"labels": torch.tensor([1, 1, 1])}, {"labels": torch.tensor([1, 1, 1])})
    metric.add({"labels": torch.tensor([1])}, {"labels": torch.tensor([0])})
    assert metric.evaluate() == {"accuracy": 0.75}


@pytest.mark.parametrize("fold_after", [1, 3, 1000])
def test_merged_metrics_count_every_sample_once(monkeypatch, fold_after):
    monkeypatch.setattr(accuracy, "FOLD_AFTER", fold_after)
    torch.manual_seed(0)
    predicted, truth = torch.randint(0, 3, (2, 21))
    one, two = AccuracyMetric(), AccuracyMetric()
    for i in range(21):
        (two if i % 2 else one).add({"labels": predicted[i : i + 1]}, {"labels": truth[i : i + 1]})
    one.merge(pickle.loads(pickle.dumps(two)))
    assert one.evaluate() == {"accuracy": int((predicted == truth).sum()) / 21}


@pytest.mark.parametrize(
    ("outputs", "inputs"),
    [({"labels": torch.zeros(3)}, {"labels": torch.zeros(2)}), ({"text": ["a"]}, {"text": ["a", "b"]})],
)
def test_unequal_numbers_are_refused(outputs, inputs):
    with pytest.raises(ValueError, match="one prediction a label"):
        AccuracyMetric().add(outputs, inputs)


def test_nothing_added_is_an_error():
    with pytest.raises(ValueError, match="no batch was added"):
        AccuracyMetric().evaluate()
