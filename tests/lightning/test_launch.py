from __future__ import annotations

import subprocess
import sys

import pytest
from lightning.fabric.plugins.environments import LightningEnvironment

from adapter.errors import ConfigError
from adapter.lightning import launch
from adapter.lightning.launch import Started, environment, program, started

TORCHRUN = {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}
SRUN = {"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "0", "SLURM_STEP_NUM_NODES": "2"}
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
}


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    """An environment without any launcher's variables, put back afterwards."""
    alone = {name: value for name, value in launch.os.environ.items() if not name.startswith(("OMPI", "SLURM", "PMI"))}
    for name in (*TORCHRUN, "GROUP_RANK", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT"):
        alone.pop(name, None)
    monkeypatch.setattr(launch.os, "environ", alone)
    return alone


@pytest.mark.parametrize(
    ("variables", "launcher", "expected"),
    [
        ({}, None, None),
        ({"LOCAL_RANK": "0"}, "pytorch", None),
        ({"RANK": "0", "WORLD_SIZE": "1"}, "pytorch", None),
        (TORCHRUN, None, Started(3, 4, 1, 2)),
        ({"RANK": "1", "WORLD_SIZE": "2"}, "pytorch", Started(1, 2, 1, 2)),
        (SRUN, "slurm", Started(2, 4, 0, 2)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, "slurm", None),
        (OPEN_MPI, "mpi", Started(1, 2, 1, 2)),
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, "mpi", Started(1, 2, 1, 2)),
        ({**TORCHRUN, **OPEN_MPI}, None, Started(3, 4, 1, 2)),
        ({**TORCHRUN, **OPEN_MPI}, "mpi", Started(1, 2, 1, 2)),
    ],
)
def test_what_launchers_tell(bare, variables, launcher, expected):
    bare.update(variables)
    assert started(launcher) == expected


def test_torch_is_told_what_srun_told(bare):
    bare.update(SRUN, SLURM_STEP_NODELIST="node[3-4]", SLURM_JOB_ID="120034")
    told = environment(started("slurm"))
    assert (told.global_rank(), told.world_size(), told.local_rank(), told.node_rank()) == (2, 4, 0, 1)
    assert (told.main_address, told.main_port) == ("node3", 15034)


def test_a_process_on_its_own_tells_nothing(bare):
    before = dict(bare)
    assert isinstance(environment(None), LightningEnvironment)
    assert bare == before


def test_the_program_is_run_again_as_it_was_started(monkeypatch, tmp_path):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    script = tmp_path / "train.py"
    script.touch()
    monkeypatch.setattr(sys, "argv", [str(script), "--local-rank=0"])
    assert program() == [sys.executable, str(script), "--local-rank=0"]
    monkeypatch.setattr(sys, "argv", ["-c"])
    with pytest.raises(ConfigError, match=r"trainer\.devices: .* not a file\n.*put it into a file"):
        program()


@pytest.mark.parametrize(("child", "status"), [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 1)])
def test_a_process_that_ends_before_it_connects_is_not_waited_for(child, status):
    text = (
        "import subprocess, sys, time\n"
        "from adapter.lightning.launch import together\n"
        f"with together([subprocess.Popen([sys.executable, '-c', {child!r}])]):\n"
        "    time.sleep(300)\n"
    )
    ended = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=200, check=False)
    assert ended.returncode == status
    assert "a process that this one has started ended with status" in ended.stderr
