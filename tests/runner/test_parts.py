"""Processors, data sets, model defaults, tasks, parameter groups and the endless order of data."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from adapter import ConfigError
from adapter.runner import BaseModel, BaseProcessor, layer_decay_groups, load_processor, registry, setup_task
from adapter.runner.building import build_model, build_splits
from adapter.runner.endless_sampler import EndlessSampler
from tests.runner import tiny  # noqa: F401  # registers what the tests name


@registry.register_model("with_defaults")
class WithDefaults(BaseModel):
    PRETRAINED_MODEL_CONFIG_DICT = {"small": "defaults_small.yaml"}

    def __init__(self, size: int, wide: bool = False) -> None:
        super().__init__()
        self.layer, self.wide = nn.Linear(size, 2), wide

    @classmethod
    def default_config_path(cls, model_type: str) -> str:
        return str(Path(FOLDER, Path(super().default_config_path(model_type)).name))


FOLDER = ""


@pytest.fixture
def defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "defaults_small.yaml").write_text("model: {size: 3, wide: true}\n")
    monkeypatch.setitem(globals(), "FOLDER", str(tmp_path))
    return tmp_path


def test_the_defaults_of_a_model_type_stand_below_the_config(defaults: Path) -> None:
    plain = build_model({"arch": "with_defaults", "model_type": "small"})
    own = build_model({"arch": "with_defaults", "model_type": "small", "size": 5})
    assert (plain.layer.in_features, own.layer.in_features, own.wide) == (3, 5, True)
    assert WithDefaults.from_pretrained("small").layer.in_features == 3
    with pytest.raises(ConfigError, match=r"model\.model_type: WithDefaults has no model_type 'smal'.*'small'"):
        build_model({"arch": "with_defaults", "model_type": "smal"})


def test_finetuned_weights_are_loaded(tmp_path: Path) -> None:
    weights = {"layer.bias": torch.tensor([3.0, 4.0])}
    torch.save({"model": weights, "epoch": 3}, tmp_path / "tuned.pth")
    cfg = {"arch": "with_defaults", "size": 2, "load_finetuned": True}
    assert build_model({**cfg, "finetuned": str(tmp_path / "tuned.pth")}).layer.bias.tolist() == [3, 4]
    assert build_model({**cfg, "load_finetuned": False, "finetuned": "gone.pth"}).layer.bias.tolist() != [3, 4]
    for path, said in (("gone.pth", "no file 'gone.pth'"), ("", "load_finetuned is on, and no file is given")):
        with pytest.raises(ConfigError, match=said):
            build_model({**cfg, "finetuned": path})


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        ({"net.layer.bias": torch.zeros(2)}, "no name in it is one of the model's"),
        ([1, 2], "no name in it is one of the model's"),
        ({"layer.bias": torch.zeros(3)}, "does not fit the model: .*layer.bias"),
    ],
)
def test_weights_of_something_else_are_refused(tmp_path: Path, saved: Any, said: str) -> None:
    torch.save(saved, tmp_path / "other.pth")
    with pytest.raises(ValueError, match=f"other.pth' .*{said}"):
        WithDefaults(2).load_checkpoint(tmp_path / "other.pth")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"size": 2, "wid": True}, r"model\.wid: WithDefaults takes no argument 'wid'.*Did you mean 'wide'"),
        ({"finetuned": ""}, r"model\.size: WithDefaults needs 'size'"),
    ],
)
def test_a_model_takes_its_arguments(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build_model({"arch": "with_defaults", **arguments})


@pytest.mark.parametrize("name", ["image_train_processor", "image_eval_processor"])
def test_images_become_normalized_tensors(name: str) -> None:
    processor = load_processor(name, {"image_size": 12, "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]})
    tensor = processor(Image.new("L", (30, 20), 255))
    assert tensor.shape == (3, 12, 12)
    assert torch.equal(tensor, torch.ones(3, 12, 12))


def test_processors_that_are_wrong_or_none_at_all() -> None:
    transform = {"name": "image_eval_processor", "cfg": {"image_sise": 3}}
    config = {"dataset": {"val_cfg": {"name": "map_data", "transform": transform}}}
    with pytest.raises(ConfigError, match=r"val_cfg\.transform\.cfg\.image_sise"):
        build_splits(config, ["val"], training=False)
    with pytest.raises(ConfigError, match=r"image_sise.*Did you mean 'image_size'"):
        load_processor("image_eval_processor", {"image_sise": 3})
    assert BaseProcessor.from_config()("as it is") == "as it is"


def test_classification_is_percent_of_labels_that_got_the_highest_score() -> None:
    task = setup_task({"run": {"task": "classification"}})
    results = [(0.5, [1.0, 2.0], 1), (1.5, [3.0, 2.0], 1), (1.0, [0.0, 9.0], 1), (1.0, [4.0, 2.0], 0)]
    assert task.after_evaluation(results, epoch=0) == {"agg_metrics": 75.0, "ACC": 75.0, "loss": 1.0}


def test_image2prompt_is_the_mean_cosine_similarity() -> None:
    task = setup_task({"run": {"task": "image2prompt"}})
    results = [(1.0, [1.0, 0.0], [2.0, 0.0]), (1.0, [1.0, 0.0], [0.0, 3.0]), (1.0, [1.0, 1.0], [-1.0, -1.0])]
    found: Any = task.after_evaluation(results, epoch=0)
    assert found["agg_metrics"] == found["cosine_similarity"] == pytest.approx(0.0)


def test_layers_further_down_learn_slower() -> None:
    model = nn.Sequential(*(nn.Linear(2, 2) for _ in range(3)))
    model[0].requires_grad_(False)
    groups = layer_decay_groups(model, 0.1, 0.5, 3, lambda name: int(name.split(".")[0]))
    assert [(group["lr_scale"], group["weight_decay"]) for group in groups] == [(0.5, 0.1), (0.5, 0), (1, 0.1), (1, 0)]
    with pytest.raises(ValueError, match=r"layer_of\('0\.weight'\) is 7; there are layers 0 to 2"):
        layer_decay_groups(model, 0.1, 0.5, 3, lambda name: 7)


def test_by_default_vectors_do_not_decay_and_frozen_parameters_are_left_out() -> None:
    model = WithDefaults(2)
    groups = model.get_optimizer_params(0.1, 0.9)
    assert [(group["weight_decay"], group["lr_scale"], len(group["params"])) for group in groups] == [
        (0.1, 0.9, 1),
        (0, 0.9, 1),
    ]
    model.layer.weight.requires_grad_(False)
    assert len(model.get_optimizer_params(0.1)) == 1


def test_the_endless_order_goes_on_where_the_last_epoch_ended() -> None:
    sampler = EndlessSampler(length=5, epoch_size=4, seed=3)
    drawn = []
    for epoch in range(5):
        sampler.set_epoch(epoch)
        drawn += list(sampler)
    assert len(sampler) == 4
    rounds = [drawn[start : start + 5] for start in range(0, 20, 5)]
    assert all(sorted(each) == list(range(5)) for each in rounds)
    assert any(first != second for first, second in pairwise(rounds))
    shares = [list(EndlessSampler(5, 4, 3, rank, 2)) for rank in range(2)]
    assert [value for both in zip(*shares, strict=True) for value in both] == drawn[:4]
    assert np.unique(drawn).size == 5
