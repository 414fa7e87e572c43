import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader

from adapter.data import image_transforms
from adapter.data.build import build_dataset
from adapter.data.image_transforms import torchvision_module
from adapter.data.preprocessor import build_preprocessor
from adapter.errors import ConfigError
from adapter.registry import PREPROCESSORS
from tests.data.pictures import draw

MEAN, STD = [0.5, 0.4, 0.3], [0.2, 0.3, 0.5]
CHAIN = {
    "train": [
        {"type": "RandomResizedCrop", "size": 8},
        {"type": "RandomHorizontalFlip"},
        {"type": "ToTensor"},
        {"type": "Normalize", "mean": MEAN, "std": STD},
        {"type": "Collect", "keys": ["img", "gt_labels"]},
    ],
    "val": [
        {"type": "Resize", "size": 10},
        {"type": "CenterCrop", "size": 8},
        {"type": "ToTensor"},
        {"type": "Normalize", "mean": MEAN, "std": STD},
        {"type": "Collect", "keys": ["image", "label"]},
    ],
}


def picture(size=(12, 12)):
    image = Image.effect_noise(size, 90).convert("RGB")
    return {"image": image, "label": 2}


@pytest.mark.parametrize(("mode", "names"), [("train", ["img", "gt_labels"]), ("val", ["image", "label"])])
def test_a_chain_of_each_mode(mode, names):
    sample = build_preprocessor(CHAIN, mode)(picture())
    assert list(sample) == names
    image, label = sample.values()
    assert (type(image), image.dtype, image.shape, label) == (torch.Tensor, torch.float32, (3, 8, 8), 2)


def test_a_chain_is_torchvisions_own(tmp_path):
    """The functions of torchvision, applied by hand, give the same numbers."""
    from torchvision.transforms import v2

    before = picture((20, 14))
    image = v2.functional.center_crop(v2.functional.resize(before["image"], [10]), [8, 8])
    pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255
    expected = (pixels - torch.tensor(MEAN)[:, None, None]) / torch.tensor(STD)[:, None, None]
    assert torch.allclose(build_preprocessor(CHAIN, "val")(before)["image"], expected, atol=1e-6)


@pytest.mark.parametrize(
    "step",
    [
        {"type": "RandomRotation", "degrees": 10, "interpolation": "bilinear"},
        {"type": "ColorJitter", "brightness": 0.3},
        {"type": "TrivialAugmentWide"},
        {"type": "Grayscale", "num_output_channels": 3},
        {"type": "RandomApply", "p": 1.0, "transforms": [{"type": "GaussianBlur", "kernel_size": 3}]},
        {"type": "torchvision.transforms.v2.Pad", "padding": 0},
    ],
    ids=lambda step: step["type"],
)
def test_any_transform_by_its_name(step):
    steps = [step, {"type": "ToImage"}, {"type": "ToDtype", "dtype": "float32", "scale": True}]
    sample = build_preprocessor(steps, "train", offered={"mode": "train"})(picture())
    assert (sample["image"].shape, sample["image"].dtype, sample["label"]) == ((3, 12, 12), torch.float32, 2)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("last", [[], [{"type": "Collect", "keys": ["image", "label"]}]], ids=["all", "collected"])
def test_batches(tmp_path, workers, last):
    draw(tmp_path, each=1)
    preprocessor = build_preprocessor([{"type": "ToTensor"}, *last], "train")
    dataset = build_dataset({"train": {"type": "image-folder", "root": str(tmp_path)}}, "train", preprocessor)
    (batch,) = DataLoader(dataset, batch_size=3, num_workers=workers)
    assert type(batch["image"]) is torch.Tensor
    assert batch["image"].shape == (3, 3, 12, 12)
    assert batch["label"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("step", "key", "texts"),
    [
        ({"type": "RandomResizeCrop", "size": 8}, "type", ["unknown preprocessor", "'RandomResizedCrop'"]),
        ({"type": "randomhorizontalflip"}, "type", ["'RandomHorizontalFlip'"]),
        ({"type": "Resize", "sise": 8}, "sise", ["takes no argument 'sise'", "'size'"]),
        ({"type": "CenterCrop"}, "size", ["needs 'size'"]),
        ({"type": "RandomHorizontalFlip", "p": 2}, "", ["cannot be built"]),
        ({"type": "Resize", "size": 8, "interpolation": "bilinera"}, "interpolation", ["'bilinear'"]),
        ({"type": "ToDtype", "dtype": "float23"}, "dtype", ["'float32'"]),
        ({"type": "RandomApply", "transforms": [{"type": "Pd"}]}, "transforms[0].type", ["unknown preprocessor 'Pd'"]),
        ({"type": "Collect", "key": ["img"]}, "key", ["'keys'"]),
    ],
)
def test_a_wrong_transform_is_refused(step, key, texts):
    with pytest.raises(ConfigError) as caught:
        build_preprocessor({"train": [{"type": "ToTensor"}, step]}, "train")
    assert caught.value.problems[0].key == "preprocessor.train[1]" + (f".{key}" if key else "")
    assert all(text in str(caught.value) for text in texts)


def test_names_are_known_without_importing_torchvision():
    assert {"RandomResizedCrop", "ColorJitter", "ToTensor", "Collect"} <= set(PREPROCESSORS.names())
    assert not {"Transform", "InterpolationMode"} & set(PREPROCESSORS.names())


def test_without_torchvision(monkeypatch):
    monkeypatch.setattr(image_transforms.importlib, "import_module", lambda name: (_ for _ in ()).throw(ImportError))
    with pytest.raises(ConfigError, match=r"ms-lightning-adapter\[vision\]"):
        torchvision_module("torchvision.transforms.v2", "preprocessor")
