from __future__ import annotations

import json

import pytest
import torch

from adapter.checkpoint.output_folder import copy_companions
from tests.runs import make, run

SAVER = {"type": "CheckpointHook", "interval": 1}


@pytest.fixture(scope="module")
def work_dir(tmp_path_factory):
    """The work directory of a run of 2 epochs with an evaluation after each."""
    folder = tmp_path_factory.mktemp("run")
    run(folder, [SAVER, {"type": "EvaluationHook"}])
    return folder


def test_content(work_dir):
    names = sorted(path.name for path in (work_dir / "output").iterdir())
    assert names == ["configuration.json", "eval_result.txt", "pytorch_model.bin"]


def test_the_weights_are_the_newest_checkpoint_s_file(work_dir):
    assert (work_dir / "output" / "pytorch_model.bin").samefile(work_dir / "epoch_2.pth")


def test_result_has_all_digits(work_dir, tmp_path):
    trainer = make(tmp_path)
    trainer.load_weights(torch.load(work_dir / "epoch_2.pth", weights_only=True))
    assert json.loads((work_dir / "output" / "eval_result.txt").read_text()) == trainer.evaluate()


def test_config(work_dir):
    config = json.loads((work_dir / "output" / "configuration.json").read_text())
    assert config["pipeline"] == {"type": "image-classification"}
    assert config["train"]["checkpoint"]["period"] == {"interval": 1, "save_dir": str(work_dir)}
    assert list(config)[-1] == "pipeline"


def test_a_pipeline_of_the_config_stays(tmp_path):
    run(tmp_path, [SAVER], epochs=1, cfg_options={"pipeline.type": "mine"})
    assert json.loads((tmp_path / "output" / "configuration.json").read_text())["pipeline"] == {"type": "mine"}


def test_null_before_an_evaluation(tmp_path):
    run(tmp_path, [SAVER], epochs=1)
    assert (tmp_path / "output" / "eval_result.txt").read_text() == "null"


def test_companions(tmp_path):
    model_dir, output = tmp_path / "model", tmp_path / "output"
    stay = (".hidden", ".git/HEAD", "pytorch_model.bin", "m.safetensors", "a.pth", "sub/b.pth", "sub/.cache")
    for name in ("vocab.txt", "sub/merges.txt", *stay):
        path = model_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("theirs")
    output.mkdir()
    (output / "configuration.json").write_text("ours")
    (model_dir / "configuration.json").write_text("theirs")
    copy_companions(model_dir, output)
    assert sorted(str(path.relative_to(output)) for path in output.rglob("*")) == [
        "configuration.json",
        "sub",
        "sub/merges.txt",
        "vocab.txt",
    ]
    assert (output / "configuration.json").read_text() == "ours"
