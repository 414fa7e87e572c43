from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch

from tests.distributed.launches import ROOT, Launch, free_port, run, torchrun
from tests.runs import pairs

CONFIG = str(ROOT / "configs" / "quickstart.yaml")
PLUGIN = str(Path(__file__).with_name("plugin.py"))
ITERS, EPOCHS = 4, 2
SETTINGS = (
    f"train.train_iters_per_epoch={ITERS}",
    f"train.max_epochs={EPOCHS}",
    "train.checkpoint.period.by_epoch=false",
    "train.checkpoint.period.max_checkpoint_num=20",
    "train.optimizer.options.cumulative_iters=2",
    "train.logging.interval=1",
    'train.hooks=[{"type": "tests-trouble"}]',
    "--trainer.accelerator=cpu",
)
SLURM = {"SLURM_STEP_NUM_TASKS": "2", "SLURM_JOB_ID": "7", "SLURM_STEP_NUM_NODES": "1"}


def fit(folder: Path, *words: str) -> list[str]:
    """Words of a command after `python`."""
    return ["-m", "adapter", "fit", CONFIG, *SETTINGS, "--import", PLUGIN, "--work-dir", str(folder), *words]


def by_hand(folder: Path, names: tuple[str, str], *words: str, **variables: str) -> list[Launch]:
    """Two processes, told what they are by the variables of a launcher that is not installed here."""
    variables["MASTER_PORT"] = str(free_port())
    command = [sys.executable, *fit(folder, *words)]
    return [Launch(command, {**variables, names[0]: str(rank), names[1]: str(rank)}) for rank in range(2)]


def lines(folder: Path) -> list[dict]:
    """The training lines of the logs in a folder, in the order of time."""
    logs = sorted(folder.glob("*.log.json"))
    found = [json.loads(line) for path in logs for line in path.read_text().splitlines()]
    timed = ("iter_time", "data_load_time")
    return [{k: v for k, v in line.items() if k not in timed} for line in found if line["mode"] == "train"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """The folder of a run that nothing happens to."""
    folder = tmp_path_factory.mktemp("whole")
    ((status, text),) = run(torchrun(*fit(folder)))
    assert status == 0, text
    return folder


def test_a_run_killed_in_an_epoch_goes_on_as_if_it_had_not_been(whole, tmp_path):
    """`--trainer.devices=2` starts the second process; killed, the first takes it along; torchrun goes on."""
    trouble = {"TROUBLE": "kill", "TROUBLE_AT": "7"}
    ((status, text),) = run([sys.executable, *fit(tmp_path, "--trainer.devices=2")], **trouble)
    assert status == -9, text
    before = lines(tmp_path)
    assert before == lines(whole)[: len(before)]
    assert pairs(tmp_path)[-1] in ("iter_6", "iter_7")
    ((status, text),) = run(torchrun(*fit(tmp_path, "--resume", str(tmp_path / "iter_5.pth"))))
    assert status == 0, text
    assert lines(tmp_path)[len(before) :] == lines(whole)[5:]
    one, other = (torch.load(folder / "output" / "pytorch_model.bin") for folder in (whole, tmp_path))
    assert all(one[name].equal(other[name]) for name in one)


def test_a_hook_that_fails_on_one_process_ends_all_with_its_error(tmp_path):
    trouble = {"TROUBLE": "raise", "TROUBLE_AT": "3", "TROUBLE_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
    names = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
    first, second = (launch.finish() for launch in by_hand(tmp_path, names, **trouble))
    assert (first[0], second[0]) == (1, 1), first[1] + second[1]
    assert "process 1 failed: ValueError: the disk is full" in first[1]
    assert "ValueError: the disk is full" in second[1]
    assert "Trouble failed in stage after_train_iter, epoch 1, after 2 iterations" in second[1]


def test_a_signal_to_one_process_ends_all_at_one_iteration_with_a_pair_to_go_on_from(whole, tmp_path):
    trouble = {"TROUBLE": "term", "TROUBLE_AT": "2", "TROUBLE_RANK": "1", **SLURM}
    names = ("SLURM_PROCID", "SLURM_LOCALID")
    ended = [launch.finish() for launch in by_hand(tmp_path, names, **trouble)]
    assert [status for status, _ in ended] == [143, 143], "\n".join(text for _, text in ended)
    state = torch.load(tmp_path / "interrupted_trainer_state.pth")
    assert state["meta"]["iter"] == 4
    assert len(state["meta"]["adapter"]["others"]) == 1
    assert lines(tmp_path) == lines(whole)[:4]
