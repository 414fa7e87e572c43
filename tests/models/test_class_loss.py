import pytest
import torch
from torch.nn.functional import cross_entropy, multi_margin_loss

from adapter.errors import ConfigError
from adapter.models.class_loss import build_loss, loss_of

LOGITS = torch.tensor([[0.5, -1.0, 2.0], [0.0, 1.0, 0.3]])
LABEL = torch.tensor([2, 0])
WEIGHT = [1.0, 2.0, 0.5]
SMOOTH = "CrossEntropyLossWithLabelSmooth"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ({}, cross_entropy(LOGITS, LABEL)),
        ({"label_smooth": 0.2}, cross_entropy(LOGITS, LABEL, label_smoothing=0.2)),
        ({"loss": {"label_smoothing": 0.2}}, cross_entropy(LOGITS, LABEL, label_smoothing=0.2)),
        ({"loss": SMOOTH}, cross_entropy(LOGITS, LABEL, label_smoothing=0.1)),
        ({"loss_config": {"type": SMOOTH, "label_smooth": 0}}, cross_entropy(LOGITS, LABEL)),
        ({"loss": {"type": "CrossEntropyLoss", "weight": WEIGHT}}, cross_entropy(LOGITS, LABEL, torch.tensor(WEIGHT))),
        ({"loss": "MultiMarginLoss"}, multi_margin_loss(LOGITS, LABEL)),
    ],
)
def test_the_loss_that_a_head_names(head, expected):
    assert torch.equal(loss_of(build_loss(head), LOGITS, LABEL), expected)


@pytest.mark.parametrize(
    ("head", "key", "told"),
    [
        ({"loss": "CrossEntropyLos"}, "head.loss", "'CrossEntropyLoss'"),
        ({"loss": {"type": "MSELoss"}}, "head.loss", "unknown loss 'MSELoss'"),
        ({"loss_config": {"label_smoot": 0.1}}, "head.loss_config.label_smoot", "'label_smoothing'"),
        ({"label_smooth": 2}, "head.loss", "label_smoothing"),
        ({"smooth": 0.1}, "head.smooth", "nothing reads this key"),
    ],
)
def test_a_wrong_loss_is_refused(head, key, told):
    with pytest.raises(ConfigError) as caught:
        build_loss(head)
    assert caught.value.problems[0].key == f"model.{key}"
    assert told in str(caught.value)


@pytest.mark.parametrize("label", [torch.tensor([3, 0]), torch.tensor([0.5, 1.0])])
def test_labels_that_are_no_classes(label):
    with pytest.raises(ConfigError, match=r"model\.num_classes: 3, but the labels"):
        loss_of(cross_entropy, LOGITS, label)
