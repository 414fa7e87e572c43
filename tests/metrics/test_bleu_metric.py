import numpy as np
import pytest
import sacrebleu

from adapter.metrics.bleu_metric import BleuMetric

WORDS = ["the", "Cat", "sat", "on,", "mat.", "it's", "今天"]


def evaluated(texts, references, size=3, **args):
    metric = BleuMetric(**args)
    for start in range(0, len(texts), size):
        part = slice(start, start + size)
        metric.add({"hyp": texts[part]}, {"ref": references[part]})
    return metric.evaluate()


def drawn(count, seed):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(1, 9))) for _ in range(count)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [1, 10])
@pytest.mark.parametrize(("tokenized", "tokenizer"), [(False, "13a"), (True, "none")])
def test_values_equal_sacrebleus_over_the_corpus(seed, count, tokenized, tokenizer):
    texts, one, two = (drawn(count, seed * 3 + i) for i in range(3))
    got = evaluated(texts, list(zip(one, two, strict=True)), eval_tokenized_bleu=tokenized)
    expected = sacrebleu.corpus_bleu(texts, [one, two], tokenize=tokenizer, force=True).score
    assert got == {"bleu-4": pytest.approx(expected, rel=1e-12)}


@pytest.mark.parametrize("wrap", [list, lambda texts: [[text] for text in texts]])
def test_a_reference_is_a_string_or_a_list_of_them(wrap):
    texts = ["the cat sat on the mat", "hello world a b c"]
    references = ["the cat is on the mat", "hello world a b d"]
    assert evaluated(texts, wrap(references)) == {"bleu-4": pytest.approx(46.49999903730473)}  # modelscope 1.40.2's
