"""Ctrl-C and SIGTERM: finish the iteration, save a pair to go on from, then end."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


class Interrupts:
    """Holds back SIGINT and SIGTERM while a run trains; a second one ends it at once.

    Signals reach the main thread only: in another thread this does nothing.

    Args:
        owner: The trainer, which asks :meth:`end_if_asked` when an iteration or an epoch is complete.
    """

    def __init__(self, owner: EpochBasedTrainer) -> None:
        self.owner = owner
        self.received: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        self._before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        self.install()
        return self

    def install(self) -> None:
        """Take the signals; once more when Lightning has put its own handler, which ends a run without saving it."""
        if threading.current_thread() is threading.main_thread():
            for number in self._before:
                signal.signal(number, self._receive)

    def __exit__(self, *exception: object) -> None:
        if threading.current_thread() is threading.main_thread():
            for number, handler in self._before.items():
                signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            self.end(signal.Signals(number))
        self.received = signal.Signals(number)
        text = f"\n{self.received.name}: ending after this iteration; once more ends at once\n"
        with contextlib.suppress(OSError):  # not through the log, which the signal may have come in the middle of
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, text.encode())

    def end_if_asked(self) -> None:
        """Save the pair and end the run, if a signal has come; of several processes all, at the same iteration.

        Raises:
            KeyboardInterrupt: After SIGINT.
            SystemExit: After SIGTERM, with status 143.
        """
        number = self._agreed() if self.owner.processes.size > 1 else self.received
        if not number:
            return
        from adapter.checkpoint.files import INTERRUPTED

        prefix = Path(self.owner.checkpoint_folder, INTERRUPTED)
        self.owner.save_checkpoint(prefix)
        self.owner.logger.warning(
            "saved %s.pth; --resume goes on from there, or --ckpt_path of adapter lightning", prefix
        )
        self.owner.processes.ending = True
        self.end(signal.Signals(number))

    def _agreed(self) -> int:
        """The signal that one of the processes has got.

        They ask each other where they share their gradients anyway: at a step, for the answer of the step before, and
        at the end of an epoch.
        """
        owner = self.owner
        if owner.epoch_ends or (owner.iter + 1) % owner.cumulative_iters == 0:
            return owner.processes.ask(self.received or 0, at_once=owner.epoch_ends)
        return 0

    @staticmethod
    def end(number: signal.Signals) -> None:
        """End the run as the signal would have.

        Raises:
            KeyboardInterrupt: For SIGINT.
            SystemExit: For SIGTERM, with status 143, so that nobody takes it for a finished run.
        """
        if number is signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)
