import pickle

import numpy as np
import pytest
import torch

from adapter.metrics import seq_cls_metric
from adapter.metrics.seq_cls_metric import SequenceClassificationMetric


def scores_for(classes, width):
    return torch.nn.functional.one_hot(torch.tensor(classes), width).float()


def evaluated(batches, **args):
    metric = SequenceClassificationMetric(**args)
    for logits, labels in batches:
        metric.add({"logits": logits}, {"labels": labels})
    return metric.evaluate()


def batches_of(logits, labels, size):
    return list(zip(logits.split(size), labels.split(size), strict=True))


# Values that modelscope 1.40.2 gives for these scores and labels.
RECORDED = {
    "ties go to the first class": (
        torch.tensor([[1.0, 1, 0], [0, 2, 2]]),
        [0, 2],
        {"accuracy": 0.5, "micro-f1": 0.5, "macro-f1": 0.3333333333333333, "f1": 0.5},
    ),
    "not a number wins": (
        torch.tensor([[1.0, float("nan"), 3], [0, 1, 2]]),
        [1, 2],
        {"accuracy": 1.0, "micro-f1": 1.0, "macro-f1": 1.0, "f1": 1.0},
    ),
    "all alike": (
        torch.zeros(4, 3),
        [0, 1, 2, 0],
        {"accuracy": 0.5, "micro-f1": 0.5, "macro-f1": 0.2222222222222222, "f1": 0.5},
    ),
    "two classes, one label": (
        scores_for([0, 1, 0, 1], 2),
        [0, 0, 0, 0],
        {"accuracy": 0.5, "binary-f1": 0.0, "f1": 0.0},
    ),
}


@pytest.mark.parametrize("case", RECORDED)
def test_values_equal_the_recorded_ones(case):
    logits, labels, expected = RECORDED[case]
    assert evaluated([(logits, torch.tensor(labels))]) == expected


@pytest.mark.parametrize("samples", [1, 5, 18, 1000])
@pytest.mark.parametrize("classes", [2, 3, 10, 150])
@pytest.mark.parametrize("labels", ["all", "one absent", "one only", "beyond"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_values_equal_scikit_learns_to_the_last_bit(samples, classes, labels):
    from sklearn.metrics import accuracy_score, f1_score

    torch.manual_seed(samples * classes)
    logits = torch.randn(samples, classes)
    truth = torch.randint(0, {"one absent": classes - 1, "one only": 1}.get(labels, classes), (samples,))
    if labels == "beyond" and classes > 2:
        truth[0::7], truth[1::7], truth[2::7] = -100, classes, classes + 5
    got = evaluated(batches_of(logits, truth, 7))
    predicted = logits.argmax(1).numpy()
    accuracy = accuracy_score(truth, predicted)
    if classes == 2:
        binary = f1_score(truth, predicted)
        assert got == {"accuracy": accuracy, "binary-f1": binary, "f1": binary}
    else:
        macro, micro = (f1_score(truth, predicted, average=kind) for kind in ("macro", "micro"))
        assert got == {"accuracy": accuracy, "micro-f1": micro, "macro-f1": macro, "f1": micro}
    assert all(type(value) is float for value in got.values())


@pytest.mark.parametrize("fold_after", [1, 2, 100])
def test_when_batches_are_counted_changes_nothing(monkeypatch, fold_after):
    monkeypatch.setattr(seq_cls_metric, "FOLD_AFTER", fold_after)
    torch.manual_seed(0)
    logits, labels = torch.randn(50, 4), torch.randint(0, 4, (50,))
    assert evaluated(batches_of(logits, labels, 8)) == evaluated([(logits, labels)])


def test_what_is_kept_does_not_grow_with_the_samples():
    metric = SequenceClassificationMetric()
    for _ in range(seq_cls_metric.FOLD_AFTER * 2 + 1):
        metric.add({"logits": torch.randn(4, 3)}, {"labels": torch.tensor([0, 1, 2, 0])})
    assert len(metric._pending) == 1


@pytest.mark.parametrize(
    ("outputs", "inputs", "args"),
    [
        ({"logits": [[0.0, 1, 0], [1, 0, 0]]}, {"labels": [1, 0]}, {}),
        ({"logits": np.eye(3)[[1, 0]]}, {"label": np.array([1, 0])}, {}),
        ({"logits": torch.eye(3)[[1, 0]]}, {"labels": torch.tensor([[1], [0]])}, {}),
        ({"logits": torch.eye(3)[[1, 0]].bfloat16()}, {"labels": torch.tensor([1.0, 0.0])}, {}),
        ({"scores": torch.eye(3)[[1, 0]], "logits": torch.zeros(2, 3)}, {"labels": torch.tensor([1, 0])},
         {"logit_name": "scores"}),
        ({"logits": torch.eye(3)[[1, 0]]}, {"labels": torch.tensor([2, 2]), "y": torch.tensor([1, 0])},
         {"label_name": "y"}),
    ],
)  # fmt: skip
def test_columns_it_takes(outputs, inputs, args):
    metric = SequenceClassificationMetric(**args)
    metric.add(outputs, inputs)
    assert metric.evaluate()["accuracy"] == 1.0


@pytest.mark.parametrize(
    ("outputs", "inputs", "error", "told"),
    [
        ({"loss": 1.0}, {"labels": torch.tensor([1])}, KeyError, "output has none of logits; it has loss"),
        ({"logits": torch.eye(3)}, {"x": 1}, KeyError, "batch has none of labels, label, gt_labels; it has x"),
        ({"logits": torch.eye(3)}, [1, 2], TypeError, "batch is a list"),
        ({"logits": torch.eye(3)}, {"labels": torch.tensor([1])}, ValueError, "one label a row"),
        ({"logits": torch.ones(2, 3, 4)}, {"labels": torch.tensor([1, 1])}, ValueError, r"\(2, 3, 4\)"),
    ],
)
def test_columns_it_refuses(outputs, inputs, error, told):
    with pytest.raises(error, match=told):
        SequenceClassificationMetric().add(outputs, inputs)


@pytest.mark.parametrize(
    ("batches", "told"),
    [([], "no batch was added"), ([(torch.eye(2), torch.tensor([0, 2]))], r"labels 0 and 1; found \[2\]")],
)
def test_what_cannot_be_evaluated(batches, told):
    with pytest.raises(ValueError, match=told):
        evaluated(batches)


@pytest.mark.parametrize("parts", [[21, 0], [11, 10], [7, 7, 7]])
def test_merged_metrics_count_every_sample_once(parts):
    torch.manual_seed(1)
    logits, labels = torch.randn(21, 4), torch.randint(0, 6, (21,))
    metrics = []
    for share, truth in zip(logits.split(parts), labels.split(parts), strict=True):
        metric = SequenceClassificationMetric()
        metric.trainer = lambda: None  # cannot be pickled, and is not
        if len(truth):
            metric.add({"logits": share}, {"labels": truth})
        metrics.append(metric)
    first, *others = metrics
    for other in others:
        first.merge(pickle.loads(pickle.dumps(other)))
    assert first.evaluate() == evaluated([(logits, labels)])


@pytest.mark.parametrize(("width", "expected"), [(2, 2 / 3), (3, 0.5)])
def test_f1_alone(width, expected):
    metric = seq_cls_metric.F1Metric()
    metric.add({"logits": scores_for([0, 1], width)}, {"labels": torch.tensor([1, 1])})
    assert metric.evaluate() == {"f1": expected}
