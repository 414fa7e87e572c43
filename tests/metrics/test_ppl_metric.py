import math

import pytest
import torch
from torchmetrics.text import Perplexity

from adapter.metrics.ppl_metric import PplMetric


def evaluated(batches):
    metric = PplMetric()
    for logits, labels in batches:
        metric.add({"logits": logits}, {"labels": labels})
    return metric.evaluate()["ppl"]


@pytest.mark.parametrize("rows", [1, 5, 21])
@pytest.mark.parametrize("ignored", [0.0, 0.5])
def test_values_equal_torchmetrics(rows, ignored):
    torch.manual_seed(rows)
    logits, labels = torch.randn(rows, 7, 11), torch.randint(0, 10, (rows, 7))
    labels[torch.rand(labels.shape) < ignored] = -100
    theirs = Perplexity(ignore_index=-100)
    theirs.update(logits, labels)
    got = evaluated(zip(logits.split(4), labels.split(4), strict=True))
    assert got == pytest.approx(float(theirs.compute()), rel=1e-5)


@pytest.mark.parametrize(
    ("logits", "labels", "expected"),
    [
        ([[2.0, 1, 0, 0], [0, 3, 0, 0], [0, 0, 1, 0]], [0, 1, 3], 2.2083130042615724),  # modelscope 1.40.2's
        ([[[0.0, 0.0]]], [[-100]], math.nan),
        ([[0.0, 200.0]], [0], math.exp(200)),  # a probability of 0 in float32
        ([[0.0, 2000.0]], [0], math.inf),
    ],
)
def test_corner_cases(logits, labels, expected):
    got = evaluated([(torch.tensor(logits), torch.tensor(labels))])
    assert got == pytest.approx(expected, rel=1e-7, nan_ok=True)


def test_every_token_weighs_the_same_whatever_its_batch():
    logits = torch.tensor([[[0.0, 1.0]] * 3, [[1.0, 0.0]] * 3])
    labels = torch.tensor([[0, -100, -100], [0, 0, 0]])
    losses = torch.nn.functional.cross_entropy(logits.reshape(-1, 2), labels.reshape(-1), reduction="none")
    assert evaluated(zip(logits.split(1), labels.split(1), strict=True)) == pytest.approx(math.exp(losses.sum() / 4))


def test_scores_in_half_precision_are_taken_in_single():
    logits, labels = torch.randn(2, 3, 5).bfloat16(), torch.zeros(2, 3, dtype=torch.long)
    assert evaluated([(logits, labels)]) == evaluated([(logits.float(), labels)])
