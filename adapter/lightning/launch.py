"""Which processes take part in a run: who started them, as the environment tells, or how to start them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lightning.fabric.plugins.environments import ClusterEnvironment, LightningEnvironment, SLURMEnvironment
from lightning.fabric.plugins.environments.lightning import find_free_network_port
from lightning.fabric.plugins.environments.torchelastic import TorchElasticEnvironment

from adapter.errors import ConfigError, Problem

LOOK_EVERY = 0.5  # seconds between looks at the processes that were started

# Launcher -> variables with this process's number, how many there are, its number on its node, and how many are there.
VARIABLES: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "pytorch": (("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),),
    "slurm": (
        # set by srun for a step; a batch script that starts Python by itself has no step
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""),
    ),
    "mpi": (
        (
            "OMPI_COMM_WORLD_RANK",
            "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "OMPI_COMM_WORLD_LOCAL_SIZE",
        ),
        ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ),
}


@dataclass(frozen=True)
class Started:
    """Processes that somebody has started.

    Attributes:
        rank: Number of this one, from 0.
        world_size: How many there are.
        local_rank: Number of this one on its node.
        per_node: How many each node has.
    """

    rank: int
    world_size: int
    local_rank: int
    per_node: int

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return self.world_size // self.per_node


def started(launcher: str | None = None) -> Started | None:
    """What the environment says of processes that a launcher has started; None for a process on its own.

    Args:
        launcher: ``pytorch``, ``slurm`` or ``mpi`` to be asked first; any of them may answer.
    """
    for name in sorted(VARIABLES, key=lambda name: name != launcher):
        for names in VARIABLES[name]:
            rank, world_size, local_rank, per_node = (_number(variable) for variable in names)
            if rank is not None and (world_size or 0) > 1:
                assert world_size is not None
                per_node = per_node or world_size // (_number("SLURM_STEP_NUM_NODES") or 1)
                local = rank % per_node if local_rank is None else local_rank
                return Started(rank, world_size, local, per_node)
    return None


def environment(processes: Started | None) -> ClusterEnvironment:
    """Lightning's view of the processes; those of any launcher are told to torch as torchrun would tell them."""
    if processes is None:
        return LightningEnvironment()
    if "MASTER_ADDR" not in os.environ and "SLURM_STEP_NODELIST" in os.environ:
        os.environ["MASTER_ADDR"] = SLURMEnvironment.resolve_root_node_address(os.environ["SLURM_STEP_NODELIST"])
    job = _number("SLURM_JOB_ID") or 0
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(15000 + job % 10000))
    os.environ.update(_variables(processes))
    return TorchElasticEnvironment()


def start(per_node: int, nodes: int) -> list[subprocess.Popen[bytes]]:
    """Start the other processes of this node: each runs this program again, from its beginning.

    Raises:
        ConfigError: The program is not a file that could be run again.
    """
    command = program()
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(find_free_network_port()))
    first = int(os.environ.get("NODE_RANK", "0")) * per_node
    world = per_node * nodes
    children = []
    for local in range(1, per_node):
        own = _variables(Started(first + local, world, local, per_node))
        children.append(subprocess.Popen(command, env={**os.environ, **own}))
    os.environ.update(_variables(Started(first, world, 0, per_node)))
    return children


@contextlib.contextmanager
def together(children: Sequence[subprocess.Popen[bytes]]) -> Iterator[None]:
    """While processes connect: when a started one ends, this one does, which would wait for it half an hour."""
    connected = threading.Event()

    def look() -> None:
        while not connected.wait(LOOK_EVERY):
            ended = next((child for child in children if child.poll() is not None), None)
            if ended is not None:
                for child in children:
                    child.terminate()
                told = (
                    f"a process that this one has started ended with status {ended.returncode}; this one ends with it"
                )
                print(told, file=sys.stderr, flush=True)
                os._exit(max(ended.returncode, 1))

    if children:
        threading.Thread(target=look, name="adapter-connect", daemon=True).start()
    try:
        yield
    finally:
        connected.set()


def program() -> list[str]:
    """The command that this process was started with; what stands before the program in it (``adapter run``), too.

    Raises:
        ConfigError: It is not a file or a module that could be run again.
    """
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is not None:
        return [sys.executable, "-m", spec.name, *sys.argv[1:]]
    if not Path(sys.argv[0]).is_file():
        found = "the other processes have to run this program again, but it is not a file"
        raise ConfigError(Problem("trainer.devices", found, fix="put it into a file, or start it with torchrun"))
    before = sys.orig_argv[1 : -len(sys.argv)] if sys.orig_argv[-len(sys.argv) :] == sys.argv else []
    return [sys.executable, *before, os.path.abspath(sys.argv[0]), *sys.argv[1:]]


def _variables(processes: Started) -> dict[str, str]:
    """What torchrun puts into the environment of a process."""
    return {
        "RANK": str(processes.rank),
        "WORLD_SIZE": str(processes.world_size),
        "LOCAL_RANK": str(processes.local_rank),
        "LOCAL_WORLD_SIZE": str(processes.per_node),
        "GROUP_RANK": str(processes.rank // processes.per_node),
    }


def _number(variable: str) -> int | None:
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else None
