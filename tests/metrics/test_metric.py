"""What every built-in metric promises: samples count once, however they are batched and over processes."""

import pickle

import numpy as np
import pytest
import torch

from adapter.metrics.build import build_metrics
from adapter.metrics.metric import wide
from adapter.plan import Component

TAGS = {"O": 0, "B-A": 1, "I-A": 2, "B-B": 3, "I-B": 4}
SAMPLES = 21
WORDS = np.array(["the", "cat", "sat", "on", "a", "mat", "今天", "天气", "。"])


def texts(seed):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(1, 12))) for _ in range(SAMPLES)]


def drawn(shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def labels(shape, high, ignored=0.0):
    values = torch.randint(0, high, shape, generator=torch.Generator().manual_seed(7))
    return values.masked_fill(torch.rand(shape, generator=torch.Generator().manual_seed(8)) < ignored, -100)


# Name, arguments, columns of the output, columns of the batch
TABLE = {
    "accuracy": ({}, {"logits": drawn((SAMPLES, 4), 1)}, {"labels": labels((SAMPLES,), 4)}),
    "seq-cls-metric": ({}, {"logits": drawn((SAMPLES, 4), 1)}, {"labels": labels((SAMPLES,), 4)}),
    "f1": ({}, {"logits": drawn((SAMPLES, 2), 1)}, {"labels": labels((SAMPLES,), 2)}),
    "token-cls-metric": (
        {"label2id": TAGS, "return_entity_level_metrics": True},
        {"logits": drawn((SAMPLES, 6, 5), 1)},
        {"labels": labels((SAMPLES, 6), 5, ignored=0.2)},
    ),
    "text-gen-metric": ({}, {"preds": texts(1)}, {"tgts": texts(2)}),
    "bleu": ({}, {"hyp": texts(1)}, {"ref": [list(pair) for pair in zip(texts(2), texts(3), strict=True)]}),
    "ppl": ({}, {"logits": drawn((SAMPLES, 6, 9), 1)}, {"labels": labels((SAMPLES, 6), 9, ignored=0.2)}),
    "image-denoise-metric": ({}, {"pred": drawn((SAMPLES, 3, 8, 9), 1), "target": drawn((SAMPLES, 3, 8, 9), 2)}, {}),
    "text-ranking-metric": (
        {"mrr_k": 3, "ndcg_k": 5},
        {"logits": drawn((SAMPLES, 1), 1)},
        {"labels": labels((SAMPLES,), 2), "qid": torch.arange(SAMPLES) // 5},
    ),
    "ned": ({}, {"text": texts(1)}, {"labels": texts(2)}),
}
EVERY = pytest.mark.parametrize("name", TABLE)


def metric_of(name, samples, size=4):
    args, outputs, inputs = TABLE[name]
    metric = build_metrics([Component(name, args)])[0]
    for start in range(samples.start, samples.stop, size):
        part = slice(start, min(start + size, samples.stop))
        metric.add(*({key: column[part] for key, column in side.items()} for side in (outputs, inputs)))
    return metric


def close(values):
    return pytest.approx(values, rel=1e-6, nan_ok=True)


@EVERY
@pytest.mark.parametrize("size", [1, 4, 20])
def test_batches_of_any_size_and_a_ragged_last_one_give_the_same(name, size):
    whole = metric_of(name, slice(0, SAMPLES), SAMPLES)
    assert metric_of(name, slice(0, SAMPLES), size).evaluate() == close(whole.evaluate())


@EVERY
@pytest.mark.parametrize("parts", [(10, 11), (21, 0), (0, 21), (1, 4, 16)])
def test_merged_metrics_of_several_processes_equal_one(name, parts):
    ends = np.cumsum(parts)
    metrics = [metric_of(name, slice(end - part, end)) for part, end in zip(parts, ends, strict=True)]
    first, *others = metrics
    for other in others:
        first.merge(pickle.loads(pickle.dumps(other)))
    assert first.evaluate() == close(metric_of(name, slice(0, SAMPLES)).evaluate())


@EVERY
def test_a_pickled_metric_goes_on_where_it_was(name):
    metric = pickle.loads(pickle.dumps(metric_of(name, slice(0, SAMPLES))))
    assert metric.evaluate() == close(metric_of(name, slice(0, SAMPLES)).evaluate())


@EVERY
def test_one_sample_has_values_that_are_plain_numbers(name):
    values = metric_of(name, slice(2, 3)).evaluate()
    assert values
    assert all(type(value) in (int, float) for value in values.values())


@pytest.mark.parametrize("name", [*TABLE, "loss-metric", "inbatch_recall"])
def test_nothing_added_is_an_error(name):
    metric = build_metrics([Component(name, TABLE.get(name, ({},))[0])])[0]
    with pytest.raises(ValueError, match="nothing to evaluate: no"):
        metric.evaluate()


@EVERY
def test_sides_of_different_lengths_are_refused(name):
    args, outputs, inputs = TABLE[name]
    metric = build_metrics([Component(name, args)])[0]
    last = {**outputs, **inputs}
    shorter = next(reversed(last))
    sides = [{key: column[: 3 if key == shorter else 4] for key, column in side.items()} for side in (outputs, inputs)]
    with pytest.raises(ValueError, match="got"):
        metric.add(*sides)


def test_sums_are_taken_in_double_precision():
    assert wide(torch.ones(1, dtype=torch.bfloat16)).dtype == torch.float64
