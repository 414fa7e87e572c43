"""Starting several processes for a test, as the launchers of the world do, and seeing that they end."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
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


class Launch:
    """A command that runs in a session of its own, with nothing of this process's launcher.

    Args:
        command: Its words.
        variables: On top of the environment.
    """

    def __init__(self, command: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
        own = {name: value for name, value in os.environ.items() if name not in LAUNCHER_VARIABLES}
        own.update({"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **(variables or {})})
        self.output = tempfile.TemporaryFile("w+")  # noqa: SIM115  a pipe that nobody reads would fill
        self.process = subprocess.Popen(
            command, env=own, stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True
        )

    def finish(self) -> tuple[int, str]:
        """Status and output, once it has ended; what is left of it then, or after the limit, is killed."""
        try:
            status = self.process.wait(LIMIT)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.output.seek(0)
            text = self.output.read()
            self.output.close()
        return status, text


def run(*commands: Sequence[str], **variables: str) -> list[tuple[int, str]]:
    """Status and output of commands that run side by side."""
    launches = [Launch(command, variables) for command in commands]
    return [launch.finish() for launch in launches]
