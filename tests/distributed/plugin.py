"""A hook that ends its process in the middle of a run, as the environment says; registered for configs."""

from __future__ import annotations

import os
import signal

from adapter import HOOKS, Hook


@HOOKS.register_module(module_name="tests-trouble")
class Trouble(Hook):
    """Does to process ``TROUBLE_RANK``, after iteration ``TROUBLE_AT``, what ``TROUBLE`` says: kill, term or raise."""

    PRIORITY = "LOWEST"

    def after_train_iter(self, trainer):
        here = trainer.processes.rank == int(os.environ.get("TROUBLE_RANK", "0"))
        if not here or trainer.iter + 1 != int(os.environ.get("TROUBLE_AT", "0")):
            return
        if os.environ["TROUBLE"] == "raise":
            raise ValueError("the disk is full")
        os.kill(os.getpid(), {"kill": signal.SIGKILL, "term": signal.SIGTERM}[os.environ["TROUBLE"]])
