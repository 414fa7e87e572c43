from types import SimpleNamespace

import numpy as np
import pytest
import torch
from seqeval.metrics import accuracy_score, classification_report

from adapter.metrics import token_cls_metric
from adapter.metrics.token_cls_metric import TokenClassificationMetric

IOB = {"O": 0, "B-A": 1, "I-A": 2, "B-B": 3, "I-B": 4}
BIOES = {"O": 0, "B-X": 1, "I-X": 2, "E-X": 3, "S-X": 4, "B-Y": 5, "E-Y": 6, "S-Y": 7}


def scores_for(tags, width=5):
    return torch.nn.functional.one_hot(torch.tensor(tags), width).float()


def evaluated(batches, label2id=IOB, **args):
    metric = TokenClassificationMetric(label2id=label2id, **args)
    for logits, labels in batches:
        metric.add({"logits": logits}, {"labels": labels})
    return metric.evaluate()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("fold_after", [1, 100])
@pytest.mark.parametrize("rows", [1, 3, 50])
@pytest.mark.parametrize("case", ["all", "type absent", "no entity", "ignored"])
@pytest.mark.parametrize("label2id", [IOB, BIOES], ids=["iob", "bioes"])
def test_values_equal_seqevals(monkeypatch, label2id, case, rows, fold_after):
    monkeypatch.setattr(token_cls_metric, "FOLD_AFTER", fold_after)
    torch.manual_seed(rows)
    logits = torch.randn(rows, 9, len(label2id))
    labels = torch.randint(0, {"type absent": 3, "no entity": 1}.get(case, len(label2id)), (rows, 9))
    if case == "ignored":
        labels[torch.rand(labels.shape) < 0.4] = -100
        labels[0, 0] = 1
    tags = {number: tag for tag, number in label2id.items()}
    pairs = [
        [(tags[p], tags[t]) for p, t in zip(*row, strict=True) if t != -100]
        for row in zip(logits.argmax(-1).tolist(), labels.tolist(), strict=True)
    ]
    true, ours = ([[pair[side] for pair in row] for row in pairs] for side in (1, 0))
    report = classification_report(true, ours, output_dict=True)
    expected = {
        f"{kind}_{name}": report[kind][key]
        for kind in sorted(report.keys() - {"micro avg", "macro avg", "weighted avg"})
        for name, key in (("precision", "precision"), ("recall", "recall"), ("f1", "f1-score"), ("number", "support"))
    }
    expected |= {"precision": report["micro avg"]["precision"], "recall": report["micro avg"]["recall"]}
    expected |= {"f1": report["micro avg"]["f1-score"], "accuracy": accuracy_score(true, ours)}
    batches = list(zip(logits.split(4), labels.split(4), strict=True))
    assert evaluated(batches, label2id, return_entity_level_metrics=True) == pytest.approx(expected, rel=1e-12)


# Values that modelscope 1.40.2 gives.
@pytest.mark.parametrize(
    ("predicted", "labels", "expected"),
    [
        ([[1, 0, 3]], [[1, 0, 0]], {"precision": 0.5, "recall": 1.0, "f1": 0.6666666666666666,
                                    "accuracy": 0.6666666666666666}),
        ([[0, 0, 0]], [[0, 0, 0]], {"precision": 0.0, "recall": 0.0, "f1": 0.0, "accuracy": 1.0}),
        ([[1, 2, 2]], [[1, -100, 2]], {"precision": 1.0, "recall": 1.0, "f1": 1.0, "accuracy": 1.0}),
    ],
)  # fmt: skip
def test_values_equal_the_recorded_ones(predicted, labels, expected):
    assert evaluated([(scores_for(predicted), torch.tensor(labels))]) == expected


def test_batches_may_be_padded_to_different_lengths():
    batches = [(scores_for([[1, 2, 0]]), torch.tensor([[1, 2, -100]])), (scores_for([[3]]), torch.tensor([[3]]))]
    assert evaluated(batches)["f1"] == 1.0


@pytest.mark.parametrize("arrays", [torch.tensor, np.array, list])
def test_other_columns_and_kinds_of_array(arrays):
    metric = TokenClassificationMetric("y", "scores", label2id=IOB)
    metric.add({"scores": arrays([[[0.0, 1, 0, 0, 0]]])}, {"y": arrays([[1]])})
    assert metric.evaluate()["f1"] == 1.0


@pytest.mark.parametrize(
    "trainer",
    [
        SimpleNamespace(label2id=IOB),
        SimpleNamespace(label2id=None, eval_preprocessor=SimpleNamespace(label2id=IOB)),
        SimpleNamespace(model=SimpleNamespace(label2id=IOB)),
        SimpleNamespace(model=SimpleNamespace(config=SimpleNamespace(label2id=IOB))),
    ],
)
def test_the_tags_numbers_come_from_the_trainer_when_not_given(trainer):
    metric = TokenClassificationMetric()
    metric.trainer = trainer
    metric.add({"logits": scores_for([[1, 2]])}, {"labels": torch.tensor([[1, 2]])})
    assert metric.evaluate()["f1"] == 1.0


@pytest.mark.parametrize(
    ("predicted", "labels", "label2id", "told"),
    [
        ([[1]], [[9]], IOB, "no tag of number 5"),
        ([[1]], [[-1]], IOB, "no tag of number -1"),
        ([[4]], [[0]], {"O": 0, "B-A": 1}, "no tag of number 2"),
        ([[1]], [[1]], None, "give it label2id"),
        ([[1]], [[-100]], IOB, "no labeled token was added"),
    ],
)
def test_what_cannot_be_evaluated(predicted, labels, label2id, told):
    with pytest.raises(ValueError, match=told):
        evaluated([(scores_for(predicted), torch.tensor(labels))], label2id)


def test_what_is_kept_does_not_grow_with_the_samples():
    metric = TokenClassificationMetric(label2id=IOB)
    for _ in range(token_cls_metric.FOLD_AFTER + 1):
        metric.add({"logits": scores_for([[1, 2]])}, {"labels": torch.tensor([[1, 2]])})
    assert len(metric._pending) == 1
