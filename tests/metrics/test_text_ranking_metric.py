import numpy as np
import pytest
import torch
from sklearn.metrics import ndcg_score

from adapter.metrics.text_ranking_metric import TextRankingMetric

SCORES = [0.9, 0.1, 0.5, 0.3, 0.8, 0.2]
LABELS = [0, 1, 0, 1, 0, 1]
QUERIES = [1, 1, 1, 2, 2, 2]


def evaluated(scores, labels, queries, size=100, **args):
    metric = TextRankingMetric(**args)
    scores, labels = torch.as_tensor(scores, dtype=torch.float), torch.as_tensor(labels)
    for start in range(0, len(scores), size):
        part = slice(start, start + size)
        metric.add({"logits": scores[part, None]}, {"labels": labels[part], "qid": queries[part]})
    return metric.evaluate()


# Values that modelscope 1.40.2 gives.
@pytest.mark.parametrize(
    ("scores", "labels", "k", "mrr", "ndcg"),
    [
        (SCORES, LABELS, 1, 0.0, 0.0),
        (SCORES, LABELS, 2, 0.25, 0.19342640361727076),
        (SCORES, LABELS, 3, 0.41666666666666663, 0.5967132018086354),
        (SCORES, LABELS, 10, 0.41666666666666663, 0.5967132018086354),
        (SCORES, [0, 2, 1, 3, 0, 1], 3, 0.41666666666666663, 0.6394540190432394),
        (SCORES, [0, 1, 0, 0, 0, 0], 3, 0.16666666666666666, 0.25),
        ([0.0] * 6, LABELS, 3, 0.75, 0.7906794910561525),
        (SCORES, [1, 1, 0, 1, 1, 0], 3, 1.0, 0.9598603945740938),
    ],
)
@pytest.mark.parametrize("queries", [torch.tensor(QUERIES), ["b", "b", "b", "a", "a", "a"]], ids=["numbers", "names"])
@pytest.mark.parametrize("size", [2, 6])
def test_values_equal_the_recorded_ones(scores, labels, k, mrr, ndcg, queries, size):
    got = evaluated(scores, labels, queries, size, mrr_k=k, ndcg_k=k)
    assert got == {"mrr": pytest.approx(mrr), "ndcg": pytest.approx(ndcg)}


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("relevance", [2, 4])
@pytest.mark.parametrize("places", [1, 4])
def test_random_queries_equal_scikit_learn(k, relevance, places):
    random = np.random.default_rng(k)
    queries = random.permutation(np.repeat(np.arange(12), 5))
    scores, labels = random.normal(size=60).round(places), random.integers(0, relevance, 60)
    mrr, ndcg = [], []
    for query in range(12):
        ours, true = scores[queries == query], labels[queries == query]
        right = np.flatnonzero(true[np.argsort(-ours, kind="stable")][:k] == 1)
        mrr.append(1 / (right[0] + 1) if len(right) else 0)
        ndcg.append(ndcg_score([true], [ours], k=k))
    got = evaluated(scores, labels, queries, 7, mrr_k=k, ndcg_k=k)
    assert got == {"mrr": pytest.approx(np.mean(mrr)), "ndcg": pytest.approx(np.mean(ndcg), rel=1e-5)}


@pytest.mark.parametrize(("label", "value"), [(1, 1.0), (0, 0.0)])
def test_a_query_of_one_document(label, value):
    assert evaluated([-3.0], [label], [7]) == {"mrr": value, "ndcg": value}


def test_large_scores_are_told_apart():
    assert evaluated([200.0, 300.0], [0, 1], [1, 1])["mrr"] == 1.0
