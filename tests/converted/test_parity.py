"""A converted config trains as the one it was made from, bit for bit, whoever makes the Lightning trainer."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from adapter import DATASETS, HOOKS, MODELS, Hook, build_trainer
from adapter.converted.cli import ConfigCLI
from adapter.errors import ConfigError
from adapter.pipeline import Request, convert, predict
from tests.parity.golden.cases import CASES, MapData, StreamData, TinyNet
from tests.parity.play import make_probe, play, read_work_dir

SPLITS = {"train": 38, "val": 18}
SEEN: dict[str, Any] = {}


class Tiny(TinyNet):
    """The model of the cases, which is made without drawing from the run's random numbers."""

    def __init__(self, dropout: float = 0.0) -> None:
        with torch.random.fork_rng():
            super().__init__(dropout)


class MapSamples(MapData):
    pass


class StreamSamples(StreamData):
    pass


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """Names for what the cases pass in code."""
    probe, seen = make_probe(Hook)
    SEEN.clear()
    SEEN.update(seen)
    own = [
        (MODELS, "tiny", Tiny),
        (DATASETS, "samples", MapSamples),
        (DATASETS, "stream", StreamSamples),
        (HOOKS, "Probe", type(probe)),
    ]
    for registry, name, cls in own:
        registry.register_module(module_name=name, module_cls=cls)
    yield
    for registry, name, _ in own:
        registry.modules["default"].pop(name)


def described(name: str) -> dict[str, Any]:
    """The config of a case with what the case passes in code: model, data and hook by name, limits by key."""
    config, options = json.loads(json.dumps(CASES[name]["cfg"])), dict(CASES[name].get("run", {}))
    kind = "stream" if options.pop("stream", False) else "samples"
    config["model"]["dropout"] = options.pop("dropout", 0.0)
    config["dataset"] = {mode: {"type": kind, "n": n} for mode, n in SPLITS.items()}
    config["train"].setdefault("hooks", []).append({"type": "Probe"})
    for key, section in (("train_iters_per_epoch", "train"), ("val_iters_per_epoch", "evaluation")):
        if key in options:
            config[section][key] = options.pop(key)
    assert not options
    return config


def play_converted(name: str) -> dict[str, Any]:
    """What a converted case does, in the fields of ``play``."""
    with tempfile.TemporaryDirectory() as folder:
        config, file, work_dir = Path(folder, "config.json"), Path(folder, "lightning.yaml"), Path(folder, "work")
        config.write_text(json.dumps(described(name)))
        file.write_text(convert(Request(str(config), work_dir=None), str(file)))
        words = [f"--config={file}", f"--trainer.default_root_dir={work_dir}", "--trainer.accelerator=cpu"]
        owner = ConfigCLI(["fit", *words]).model.owner
        return {
            **SEEN,
            "weights": {key: value.double().flatten().tolist() for key, value in owner.model.state_dict().items()},
            "metric_values": owner.metric_values,
            "hook_order": [type(each).__name__ for each in owner.hooks],
            **read_work_dir(work_dir),
        }


@pytest.mark.parametrize("name", CASES)
def test_trains_the_same(name: str) -> None:
    assert play_converted(name) == play(name, build_trainer, Hook)


def test_predicts_the_same() -> None:
    """All of the evaluation data in their order, whatever an evaluation makes of them."""
    with tempfile.TemporaryDirectory() as folder:
        config, file, out = Path(folder, "config.json"), Path(folder, "lightning.yaml"), Path(folder, "direct.jsonl")
        given = described(next(iter(CASES)))
        given["evaluation"] |= {"val_iters_per_epoch": 2, "dataloader": {"batch_size_per_gpu": 4, "shuffle": True}}
        config.write_text(json.dumps(given))
        weights = str(Path(folder, "weights.bin"))
        torch.save({key: value + 1 for key, value in Tiny().state_dict().items()}, weights)
        file.write_text(convert(Request(str(config), work_dir=None), str(file)))
        count = predict(Request(str(config), work_dir=f"{folder}/direct"), weights, str(out))
        words = [f"--config={file}", f"--trainer.default_root_dir={folder}/work", f"--ckpt_path={weights}"]
        cli = ConfigCLI(["predict", *words])
        assert Path(folder, "work", "predictions.jsonl").read_bytes() == out.read_bytes()
        outputs = cli.trainer.predict_loop.predictions
        assert sum(len(output["logits"]) for output in outputs) == count == SPLITS["val"]


def test_has_nothing_to_test(tmp_path: Path) -> None:
    config, file = tmp_path / "config.json", tmp_path / "lightning.yaml"
    config.write_text(json.dumps(described(next(iter(CASES)))))
    file.write_text(convert(Request(str(config), work_dir=None), str(file)))
    with pytest.raises(ConfigError, match="test: a config without a run: section describes no test data"):
        ConfigCLI(["test", f"--config={file}", f"--trainer.default_root_dir={tmp_path}/work"])
    assert not (tmp_path / "work").exists()
