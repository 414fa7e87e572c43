"""A process that fails takes the others along, with its error: they would wait for it for ever."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import torch.distributed as dist
from torch.distributed.distributed_c10d import _get_default_store

from adapter.processes import Processes

KEY, SEEN = "adapter/failure", "adapter/failure/seen"
LOOK_EVERY, GRACE = 0.5, 10.0  # seconds


@contextlib.contextmanager
def shared_failures(processes: Processes) -> Iterator[None]:
    """A block that the processes leave together: all at its end, or all with an error.

    A process on its own has nothing to share; a block within such a block adds nothing.

    Raises:
        RuntimeError: Another process has failed; names it and its error.
    """
    if processes.size == 1 or processes.watched:
        yield
        return
    watch = Watch(processes)
    processes.watched = True
    try:
        yield
        processes.wait()
    except BaseException as error:
        if processes.ending:
            raise
        watch.fail(error)
        raise
    finally:
        processes.watched = False
        watch.over.set()


class Watch:
    """Looks for news of a failure, in a thread, while the block runs.

    Where communication breaks when a process is gone (gloo), the others notice by themselves and come to learn the
    reason here. Where it hangs (NCCL), the thread ends the process.

    Args:
        processes: All of them.
    """

    def __init__(self, processes: Processes) -> None:
        self.processes = processes
        self.over = threading.Event()
        self._store: Any = _get_default_store()
        threading.Thread(target=self._look, name="adapter-watch", daemon=True).start()

    def fail(self, error: BaseException) -> None:
        """Tell the others, and give them time to hear of it.

        Raises:
            RuntimeError: One of them has failed before, which is why this one has.
        """
        told = self.told()
        if told is not None and isinstance(error, (RuntimeError, dist.DistError)):
            raise RuntimeError(told) from error
        with contextlib.suppress(RuntimeError, dist.DistError):  # nobody is left to be told
            self._store.set(KEY, f"process {self.processes.rank} failed: {type(error).__name__}: {error}")
            until = time.monotonic() + 4 * LOOK_EVERY
            while int(self._store.add(SEEN, 0)) < self.processes.size - 1 and time.monotonic() < until:
                time.sleep(LOOK_EVERY / 10)

    def told(self) -> str | None:
        """What has become of another process, when it is not well."""
        for rank, child in enumerate(self.processes.children, start=self.processes.rank + 1):
            if child.poll():
                return f"process {rank} ended with status {child.returncode}"
        try:
            return self._store.get(KEY).decode() if self._store.check([KEY]) else None
        except (RuntimeError, dist.DistError):
            return "the main process is gone"

    def _look(self) -> None:
        while not self.over.wait(LOOK_EVERY):
            told = self.told()
            if told is None:
                continue
            with contextlib.suppress(RuntimeError, dist.DistError):
                self._store.add(SEEN, 1)
            if not self.over.wait(GRACE):
                print(f"{told}; process {self.processes.rank} ends with it", file=sys.stderr, flush=True)
                os._exit(1)
            return
