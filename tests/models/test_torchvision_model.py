import logging

import pytest
import torch
from torch.nn.functional import cross_entropy

from adapter.errors import ConfigError
from adapter.models.build import build_model
from adapter.models.torchvision_model import TorchvisionModel

IMAGES = torch.linspace(0, 1, 2 * 3 * 32 * 32).reshape(2, 3, 32, 32)
LABEL = torch.tensor([4, 0])


def model(name="squeezenet1_1", **arguments):
    return build_model({"type": "torchvision", "name": name, **{"head": {"num_classes": 5}, **arguments}})


@pytest.mark.parametrize("name", ["squeezenet1_1", "shufflenet_v2_x0_5", "resnet18", "mobilenet_v3_small"])
def test_it_is_torchvisions_model_with_its_loss(name):
    import torchvision

    torch.manual_seed(0)
    ours = model(name).eval()
    torch.manual_seed(0)
    theirs = torchvision.models.get_model(name, num_classes=5).eval()
    outputs = ours(IMAGES, LABEL)
    assert torch.equal(outputs["logits"], theirs(IMAGES))
    assert torch.equal(outputs["loss"], cross_entropy(outputs["logits"], LABEL))


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ({"image": IMAGES}, {"logits"}),
        ({"img": IMAGES}, {"logits"}),
        ({"image": IMAGES, "label": LABEL}, {"logits", "loss"}),
        ({"img": IMAGES, "gt_labels": LABEL}, {"logits", "loss"}),
    ],
)
def test_columns(batch, expected):
    assert set(model()(**batch)) == expected


def test_a_batch_without_an_image():
    with pytest.raises(ConfigError, match="neither image nor img"):
        model()(label=LABEL)


def test_label_smoothing_and_arguments_of_the_model_itself():
    ours = model(num_classes=6, head={"label_smooth": 0.3}, dropout=0.0)
    outputs = ours(IMAGES, LABEL)
    assert outputs["logits"].shape == (2, 6)
    assert torch.equal(outputs["loss"], cross_entropy(outputs["logits"], LABEL, label_smoothing=0.3))


def test_further_classifiers_count_while_they_train():
    ours = model("googlenet", init_weights=False).eval()
    ours.net.train()
    for layer in ours.net.modules():
        if isinstance(layer, (torch.nn.Dropout, torch.nn.BatchNorm2d)):
            layer.eval()
    images = torch.nn.functional.interpolate(IMAGES, 64)
    main, second, first = ours.net(images)
    expected = cross_entropy(main, LABEL) + 0.3 * cross_entropy(second, LABEL) + 0.3 * cross_entropy(first, LABEL)
    assert torch.allclose(ours(images, LABEL)["loss"], expected)
    ours.net.eval()
    assert torch.equal(ours(images, LABEL)["loss"], cross_entropy(ours.net(images), LABEL))


@pytest.mark.parametrize(("labels", "classes"), [(None, 5), (3, 5), (5, 5)])
def test_as_many_classes_as_the_head_says(labels, classes):
    assert model(num_labels=labels).num_classes == classes


def test_as_many_classes_as_labels():
    assert model(head={"label_smooth": 0.1}, num_labels=7)(IMAGES)["logits"].shape == (2, 7)


def test_weights_of_a_file_where_they_fit(tmp_path, caplog):
    source = model(num_classes=7).net.state_dict()
    torch.save(source, tmp_path / "weights.pth")
    with caplog.at_level(logging.WARNING, "adapter"):
        ours = model(weights="weights.pth", base_dir=tmp_path).net.state_dict()
    other = {name for name in ours if not (ours[name].shape == source[name].shape and ours[name].equal(source[name]))}
    assert other == {"classifier.1.weight", "classifier.1.bias"}
    (message,) = caplog.messages
    assert "classifier.1.weight, classifier.1.bias have another shape there and stay random" in message


@pytest.mark.parametrize(
    ("changes", "key", "told"),
    [
        ({"name": "resnet19"}, "model.name", "Did you mean 'resnet1"),
        ({"head": {}}, "model.head.num_classes", "not given"),
        ({"num_classes": 0}, "model.num_classes", "found 0"),
        ({"num_labels": 6}, "model.head.num_classes", "found 5, but the data have 6 labels"),
        ({"num_classes": 3, "num_labels": 6}, "model.num_classes", "6 or more"),
        ({"head": {"num_classes": 5, "los": "x"}}, "model.head.los", "'loss'"),
        ({"weights": "DEFALT"}, "model.weights", "'DEFAULT'"),
        ({"weights": "other.pth"}, "model.weights", "none of the model's"),
        ({"weights": "text.pth"}, "model.weights", "text.pth"),
        ({"dropuot": 0.1}, "model", "dropuot"),
    ],
)
def test_bad_input(tmp_path, monkeypatch, changes, key, told):
    monkeypatch.chdir(tmp_path)
    torch.save({"layer.weight": torch.ones(1)}, "other.pth")
    (tmp_path / "text.pth").write_text("text")
    with pytest.raises(ConfigError) as caught:
        model(**changes)
    assert caught.value.problems[0].key == key
    assert told in str(caught.value)


def test_its_weights_load_into_torchvisions_model(tmp_path):
    import torchvision

    ours = TorchvisionModel("squeezenet1_1", 5).eval()
    plain = torchvision.models.squeezenet1_1(num_classes=5).eval()
    plain.load_state_dict({name.removeprefix("net."): value for name, value in ours.state_dict().items()})
    assert torch.equal(plain(IMAGES), ours(IMAGES)["logits"])
