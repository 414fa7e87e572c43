import numpy as np
import pytest

from adapter.metrics.ned_metric import NedMetric


def evaluated(predicted, truth, output="labels", label="labels"):
    metric = NedMetric()
    metric.add({output: predicted}, {label: truth})
    return metric.evaluate()["ned"]


# Values that modelscope 1.40.2 gives, but for empty texts, which it scores below 0.
@pytest.mark.parametrize(
    ("predicted", "truth", "expected"),
    [
        (["abc", "x"], ["abd", "x"], 0.8333333333333334),
        (["kitten"], ["sitting"], 0.5714285714285714),
        (["今天天气"], ["今天天气好"], 0.8),
        (["AbC"], ["abc"], 0.33333333333333337),
        (["a b"], ["ab"], 0.6666666666666667),
        (["abcd", "a"], ["abcx", "bc"], 0.375),
        ([""], [""], 1.0),
        (["", "q"], ["abc", "q"], 0.5),
        (np.array(["ab"]), np.array(["ac"]), 0.5),
    ],
)
def test_values(predicted, truth, expected):
    assert evaluated(predicted, truth) == pytest.approx(expected)


def edits(a, b):
    """Edit distance, row by row of the table."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def test_random_texts():
    random = np.random.default_rng(0)
    ours, true = (["".join(random.choice(list("abc "), random.integers(1, 9))) for _ in range(200)] for _ in "ab")
    shares = [1 - edits(a, b) / max(len(a), len(b)) for a, b in zip(ours, true, strict=True)]
    assert evaluated(ours, true) == pytest.approx(np.mean(shares))


@pytest.mark.parametrize("output", ["labels", "label", "text", "preds"])
@pytest.mark.parametrize("label", ["labels", "label"])
def test_columns_it_takes(output, label):
    assert evaluated(["ab"], ["ac"], output, label) == 0.5


def test_numbers_are_refused():
    with pytest.raises(ValueError, match="decode numbers"):
        evaluated([1, 2], [1, 2])
