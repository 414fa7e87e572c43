import numpy as np
import pytest
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu
from rouge import Rouge

from adapter.metrics.text_gen_metric import TextGenerationMetric


def evaluated(texts, references, size=3, **args):
    metric = TextGenerationMetric(**args)
    for start in range(0, len(texts), size):
        part = slice(start, start + size)
        metric.add({metric.pred_text: texts[part]}, {metric.target_text: references[part]})
    return metric.evaluate()


# rouge-1, rouge-l, bleu-1 and bleu-4 that modelscope 1.40.2 gives.
RECORDED = [
    (["the cat sat on the mat", "hello world a b c"], ["the cat is on the mat", "hello world a b d"],
     [0.7999999950000002, 0.7999999950000002, 0.8181818181818182, 0.46499999037304734]),
    (["a", "b c"], ["a", "b d"], [0.749999995, 0.749999995, 0.6666666666666666, 0.18995892141289814]),
    (["今天天气很好", "abc 今天"], ["今天天气不好", "abd 今天"],
     [0.7333333283333334, 0.7333333283333334, 0.7777777777777778, 0.4591497693322866]),
    (["", "hello world a b c"], ["the cat is on the mat", "hello world a b d"],
     [0.3999999975000001, 0.3999999975000001, 0.28973213900471884, 0.22083358203177395]),
    (["a b", "hello world a b c"], ["", "hello world a b d"],
     [0.3999999975000001, 0.3999999975000001, 0.5714285714285714, 0.488923022434901]),
    (["...", "a b"], ["a b", "a b"], [0.4999999975000000, 0.4999999975, 0.47768754038252614, 0.22891136993383346]),
    (["The cat, sat. On it"], ["the cat sat on it"],
     [0.3999999950000001, 0.3999999950000001, 0.2, 0.10682175159905853]),
    (["a a b a a b"], ["a b a b b"], [0.999999995, 0.999999995, 0.6666666666666666, 0.35930411196308426]),
    (["a b c d e f g"], ["g f e d c b a"], [0.999999995, 0.14285713785714302, 1.0, 0.10682175159905853]),
    (["x y"], ["q r"], [0.0, 0.0, 0.0, 0.0]),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "references", "expected"), RECORDED)
def test_values_equal_the_recorded_ones(texts, references, expected):
    got = evaluated(texts, references, size=1)
    assert list(got) == ["rouge-1", "rouge-l", "bleu-1", "bleu-4"]
    assert list(got.values()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_random_texts_equal_nltk_and_rouge(seed):
    random = np.random.default_rng(seed)
    words = ["a", "b.", "今", "。", "cat", "sat"]
    ours, true = ([random.choice(words, random.integers(1, 12)).tolist() for _ in range(20)] for _ in "ab")
    smoothing = SmoothingFunction().method3
    rouge = Rouge().get_scores([" ".join(text) for text in ours], [" ".join(text) for text in true], avg=True)
    weights = [(1.0,), (0.25,) * 4]
    expected = [rouge[name]["f"] for name in ("rouge-1", "rouge-l")]
    expected += [corpus_bleu([[text] for text in true], ours, weight, smoothing) for weight in weights]
    got = evaluated(["".join(f"{word} " if word.isascii() else word for word in text) for text in ours],
                    [" ".join(text) for text in true])  # fmt: skip
    assert list(got.values()) == pytest.approx(expected, rel=1e-12)


def test_other_columns():
    assert evaluated(["a b"], ["a b"], target_text="t", pred_text="p")["bleu-1"] == 1.0


def test_long_texts():
    text = " ".join(map(str, range(1100)))
    assert evaluated([text], [text])["rouge-l"] == pytest.approx(1.0)
