"""What ModelScope's trainer makes of checkpoints; needs a Python that has modelscope.

python -m tests.parity.interchange write FOLDER       trains CASE; leaves its pairs and FOLDER/run.json
python -m tests.parity.interchange read PAIR FOLDER   begins with the weights of a pair; leaves FOLDER/run.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

from tests.parity.golden.cases import CASES, MapData, TinyNet
from tests.parity.play import TRAINERS, make_probe

CASE = "shuffle_dropout"


def build(which: str, folder: Path) -> tuple[Any, dict[str, list[Any]]]:
    """A trainer of CASE, ours or ModelScope's, and the list that its steps will fill."""
    packages = [__import__(name, fromlist=["build_trainer", "Hook"]) for name in TRAINERS[which]]
    probe, seen = make_probe(packages[1].Hook)
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "configuration.json"
    config.write_text(json.dumps(CASES[CASE]["cfg"]))
    arguments = {
        "cfg_file": str(config),
        "model": TinyNet(0.3),
        "train_dataset": MapData(38),
        "eval_dataset": MapData(18),
        "device": "cpu",
        "work_dir": str(folder),
        "callbacks": [probe],
    }
    return packages[0].build_trainer("trainer", arguments), seen


def weights_of(trainer: Any) -> dict[str, list[float]]:
    """The model's weights as float64, which holds every float32 exactly."""
    return {name: value.double().flatten().tolist() for name, value in trainer.model.state_dict().items()}


def begin_with(trainer: Any, pair: str) -> dict[str, Any]:
    """Train with the weights of a pair; the values of the output folder beside it, before."""
    values: dict[str, Any] = trainer.evaluate(str(Path(pair).parent / "output" / "pytorch_model.bin"))
    trainer.train(pair, load_all_state=False)
    return values


def main(what: str, *paths: str) -> None:
    """See the module."""
    torch.set_num_threads(1)
    folder = Path(paths[-1])
    trainer, seen = build("real", folder)
    found = begin_with(trainer, paths[0]) if what == "read" else trainer.train()
    found = {"steps": seen["steps"], "weights": weights_of(trainer), "values": found}
    (folder / "run.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
