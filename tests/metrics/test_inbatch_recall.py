import pickle

import numpy as np
import pytest
import torch

from adapter.metrics.inbatch_recall import InbatchRecallMetric


def metric_of(images, texts, size):
    metric = InbatchRecallMetric()
    for image, text in zip(images.split(size), texts.split(size), strict=True):
        metric.add({"img_embedding": image, "text_embedding": text}, {})
    return metric


@pytest.mark.parametrize("size", [1, 4, 20, 21])
def test_the_best_image_of_each_text_is_looked_for_in_its_batch(size):
    torch.manual_seed(0)
    images = torch.randn(21, 5)
    texts = images + torch.randn(21, 5)
    right = 0
    for start in range(0, 21, size):
        products = texts[start : start + size].numpy() @ images[start : start + size].numpy().T
        right += int((np.argmax(products, 1) == np.arange(len(products))).sum())
    assert metric_of(images, texts, size).evaluate() == {"inbatch_t2i_recall_at_1": right / 21}


def test_embeddings_are_not_normalized():
    images, texts = torch.tensor([[1.0, 0.0], [9.0, 9.0]]), torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    assert metric_of(images, texts, 2).evaluate() == {"inbatch_t2i_recall_at_1": 0.5}


def test_merging_adds_the_other_processs_batches():
    torch.manual_seed(0)
    images, texts = torch.randn(2, 20, 4)
    one, two = metric_of(images[:12], texts[:12], 4), metric_of(images[12:], texts[12:], 4)
    one.merge(pickle.loads(pickle.dumps(two)))
    assert one.evaluate() == metric_of(images, texts, 4).evaluate()


@pytest.mark.parametrize(("images", "texts"), [((3, 2), (2, 2)), ((3, 2), (3, 4)), ((3,), (3,))])
def test_embeddings_of_other_shapes_are_refused(images, texts):
    with pytest.raises(ValueError, match="two embeddings"):
        metric_of(torch.zeros(images), torch.zeros(texts), 9)
