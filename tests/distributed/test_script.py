"""A user's own script, in processes that are told their number on the command line too, as scripts used to be."""

from __future__ import annotations

import json
import sys

import torch

from tests.distributed.launches import free_port, run
from tests.runs import pairs

SCRIPT = """
import json, os, sys
from adapter import TrainingArgs
from tests.runs import make, weights_of

*words, folder = sys.argv[1:]
args = TrainingArgs(max_epochs=2).parse_cli(words)  # --local-rank=N comes before the script's own
trainer = make(folder, [{"type": "DDPHook"}, {"type": "CheckpointHook"}], args.max_epochs)
trainer.train()
told = {"local_rank": args.local_rank, "rank": trainer.processes.rank, "weights": weights_of(trainer)}
with open(f"{folder}/{os.environ['RANK']}.json", "w") as file:
    json.dump(told, file)
"""


def test_a_script_by_torch_distributed_launch(tmp_path):
    script, work = tmp_path / "train.py", tmp_path / "work"
    script.write_text(SCRIPT)
    where = ["--nproc_per_node=2", "--master_addr=127.0.0.1", f"--master_port={free_port()}"]
    command = [sys.executable, "-m", "torch.distributed.launch", *where, str(script), "--max-epochs=3", str(work)]
    ((status, text),) = run(command)
    assert status == 0, text
    first, second = (json.loads((work / f"{rank}.json").read_text()) for rank in range(2))
    assert [(told["local_rank"], told["rank"]) for told in (first, second)] == [(0, 0), (1, 1)]
    assert first["weights"] == second["weights"]
    assert pairs(work) == ["epoch_3"]
    saved = torch.load(work / "epoch_3.pth", weights_only=True)
    assert [value for tensor in saved.values() for value in tensor.flatten().tolist()] == first["weights"]
