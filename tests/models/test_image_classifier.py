import pytest
import torch
from torch.nn.functional import cross_entropy

from adapter.errors import ConfigError
from adapter.models.build import build_model

IMAGES = torch.linspace(0, 1, 2 * 3 * 32 * 32).reshape(2, 3, 32, 32)
LABEL = torch.tensor([1, 0])
HEAD = {"type": "ClsHead", "num_classes": 4}
SMOOTHED = {"type": "CrossEntropyLossWithLabelSmooth", "label_smooth": 0.2}


def model(backbone, head=None, **others):
    return build_model({"type": "classification", "backbone": backbone, "head": {**HEAD, **(head or {})}, **others})


@pytest.mark.parametrize(
    ("backbone", "name", "width"),
    [
        ({"type": "ResNet", "depth": 18, "out_indices": [4], "norm_cfg": {"type": "BN"}}, "resnet18", 512),
        ({"type": "ResNet", "depth": 18, "norm_cfg": {"type": "SyncBN"}, "style": "pytorch"}, "resnet18", 512),
        ({"type": "MobileNetV2"}, "mobilenet_v2", 1280),
    ],
)
def test_a_backbone_and_a_head(backbone, name, width):
    import torchvision

    torch.manual_seed(0)
    ours = model(backbone, {"with_avg_pool": True, "in_channels": width, "loss_config": SMOOTHED}, pretrained=None)
    torch.manual_seed(0)
    theirs = torchvision.models.get_model(name, num_classes=4)
    outputs = ours.eval()(img=IMAGES, gt_labels=LABEL)
    assert torch.equal(outputs["logits"], theirs.eval()(IMAGES))
    assert torch.equal(outputs["loss"], cross_entropy(outputs["logits"], LABEL, label_smoothing=0.2))


def test_pretrained_weights_of_a_file(tmp_path):
    weights = model({"type": "ResNet", "depth": 18}).net.state_dict()
    torch.save({"state_dict": weights}, tmp_path / "resnet.pth")
    ours = model({"type": "ResNet", "depth": 18}, pretrained=str(tmp_path / "resnet.pth")).net.state_dict()
    assert all(ours[name].equal(value) for name, value in weights.items())


RESNET = {"type": "ResNet", "depth": 18}


@pytest.mark.parametrize(
    ("backbone", "head", "key", "told"),
    [
        ({"type": "ResNet", "depth": 19}, {}, "backbone.depth", "resnet18"),
        ({"type": "ResNet"}, {}, "backbone.depth", "no ResNet without a depth"),
        ({"type": "Rsenet"}, {}, "backbone.type", "no Rsenet"),
        ({"depth": 18}, {}, "backbone.type", "not given"),
        ({**RESNET, "dept": 18}, {}, "backbone.dept", "'depth'"),
        ({**RESNET, "style": "caffe"}, {}, "backbone.style", "'pytorch'"),
        ({**RESNET, "norm_cfg": {"type": "GN"}}, {}, "backbone.norm_cfg.type", "BN, SyncBN"),
        (RESNET, {"type": "ClsHed"}, "head.type", "'ClsHead'"),
        (RESNET, {"with_avg_pool": False}, "head.with_avg_pool", "true"),
        (RESNET, {"in_channels": 2048}, "head.in_channels", "512, which the backbone gives"),
        (RESNET, {"num_classes": None}, "head.num_classes", "not given"),
        (RESNET, {"loss_config": {"type": "FocalLoss"}}, "head.loss_config", "unknown loss 'FocalLoss'"),
    ],
)
def test_bad_input(backbone, head, key, told):
    with pytest.raises(ConfigError) as caught:
        model(backbone, head)
    assert caught.value.problems[0].key == f"model.{key}"
    assert told in str(caught.value)
