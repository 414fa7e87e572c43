"""Starting several processes for a test, as the launchers of the world do, and seeing that they end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT = 240  # seconds that processes may take, on a busy machine
LAUNCHER_VARIABLES = (
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
)


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def torchrun(*words: str, processes: int = 2) -> list[str]:
    """A torchrun command of one node, with a port of its own."""
    where = [f"--nproc_per_node={processes}", "--master_addr=127.0.0.1", f"--master_port={free_port()}"]
    return [sys.executable, "-m", "torch.distributed.run", *where, *words]


def two_nodes(*words: str) -> list[list[str]]:
    """The torchrun commands of two nodes of one process each."""
    port = free_port()
    where = ["--nnodes=2", "--nproc_per_node=1", "--master_addr=127.0.0.1", f"--master_port={port}"]
    return [[sys.executable, "-m", "torch.distributed.run", *where, f"--node_rank={node}", *words] for node in range(2)]


def begin(command: Sequence[str], variables: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start a command in a session of its own, with nothing of this process's launcher; stderr joins stdout."""
    own = {name: value for name, value in os.environ.items() if name not in LAUNCHER_VARIABLES}
    own.update({"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **(variables or {})})
    return subprocess.Popen(
        command, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def finish(*processes: subprocess.Popen[str]) -> list[tuple[int, str]]:
    """Status and output of each, once all have ended; what is left of them after the limit is killed."""
    try:
        return [
            (process.wait(LIMIT), text) for process in processes for text in [process.communicate(timeout=LIMIT)[0]]
        ]
    finally:
        for process in processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def run(*commands: Sequence[str], **variables: str) -> list[tuple[int, str]]:
    """Status and output of commands that run side by side."""
    return finish(*[begin(command, variables) for command in commands])
