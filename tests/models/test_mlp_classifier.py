import pytest
import torch
from torch.nn.functional import cross_entropy

from adapter.models.mlp_classifier import MLPClassifier


@pytest.mark.parametrize(
    ("args", "weights"),
    [
        ({"hidden": 5}, [(5, 6), (3, 5)]),
        ({"hidden": [5, 4]}, [(5, 6), (4, 5), (3, 4)]),
        ({"hidden": []}, [(3, 6)]),
        ({}, [(64, 6), (3, 64)]),
    ],
)
def test_hidden_sizes_give_the_layers(args, weights):
    model = MLPClassifier(in_features=6, num_classes=3, **args)
    assert [tuple(p.shape) for p in model.parameters() if p.ndim == 2] == weights


@pytest.mark.parametrize("features", [torch.ones(2, 6), torch.ones(2, 6, dtype=torch.int64), torch.ones(2, 2, 3)])
def test_loss_only_with_labels(features):
    model, label = MLPClassifier(6, 3), torch.tensor([0, 2])
    out = model(features, label)
    assert out["logits"].shape == (2, 3)
    assert torch.equal(out["loss"], cross_entropy(out["logits"], label))
    assert model(features).keys() == {"logits"}


def test_dropout_acts_in_training_only():
    model = MLPClassifier(6, 3, dropout=0.5)
    x = torch.ones(4, 6)
    assert not torch.equal(model(x)["logits"], model(x)["logits"])
    model.eval()
    assert torch.equal(model(x)["logits"], model(x)["logits"])
