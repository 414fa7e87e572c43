"""DDPHook: train in several processes, each with the whole model."""

from __future__ import annotations

from adapter.errors import ConfigError, Problem, nearest
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.registry import HOOKS

LAUNCHERS = ("pytorch", "mpi", "slurm")


@HOOKS.register_module()
class DDPHook(Hook):
    """Asks for DistributedDataParallel; the work is the strategy's.

    Args:
        launcher: What started the processes: ``pytorch`` (torchrun), ``mpi`` or ``slurm``. Where it has not, the
            trainer starts as many as ``devices`` says by itself.
    """

    PRIORITY = Priority.LOW
    STRATEGY = "ddp"

    def __init__(self, launcher: str = "pytorch") -> None:
        if launcher not in LAUNCHERS:
            guess = nearest(launcher, LAUNCHERS)
            raise ConfigError(Problem("launcher", f"found {launcher!r}", ", ".join(LAUNCHERS), guess))
        self.launcher = launcher
