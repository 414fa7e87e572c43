"""Processes: the processes of a run, and what they tell each other."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

T = TypeVar("T")


class Processes:
    """The processes of a run. What they tell each other travels between CPUs and waits for no device.

    A process on its own has nobody to tell: every method returns at once.

    Args:
        rank: Number of this process, from 0; 0 is the main one, which writes and prints.
        size: How many there are.
        children: Those that this one has started.

    Attributes:
        ending: Whether they have agreed to end the run, so that an exception on one of them is on all.
        watched: Whether the others will hear of a failure of this one.
        share: Which share of the data this process takes, from 0; processes that share a model take the same.
        shares: How many shares there are.
    """

    def __init__(self, rank: int = 0, size: int = 1, children: Sequence[subprocess.Popen[bytes]] = ()) -> None:
        self.rank = rank
        self.size = size
        self.children = children
        self.share, self.shares = rank, size
        self.ending = self.watched = False
        self._group: Any = None
        self._question: tuple[Any, Tensor] | None = None

    def connect(self) -> None:
        """Open the way between the CPUs; every process calls it, once torch's process group exists."""
        if self.size > 1:
            self._group = dist.new_group(backend="gloo")

    def broadcast(self, value: T) -> T:
        """The main process's value."""
        if self.size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, 0, group=self._group)
        return box[0]

    def gather(self, value: T) -> list[T]:
        """Everybody's value, by rank."""
        if self.size == 1:
            return [value]
        found: list[Any] = [None] * self.size
        dist.all_gather_object(found, value, group=self._group)
        return found

    def gather_to_main(self, value: T) -> list[T]:
        """Everybody's value, by rank, on the main process; nothing on the others."""
        if self.size == 1:
            return [value]
        found: list[Any] | None = [None] * self.size if self.rank == 0 else None
        dist.gather_object(value, found, 0, group=self._group)
        return found or []

    def any(self, flag: bool) -> bool:
        """Whether it is true for any process."""
        return flag if self.size == 1 else any(self.gather(flag))

    def ask(self, number: int, at_once: bool = False) -> int:
        """The greatest number that a process gave: now, or when it was asked the time before, which waits for nobody.

        Args:
            number: This process's answer, 0 for none.
            at_once: Wait for the others' answers.
        """
        if self.size == 1:
            return number
        answer = self._last_answer()
        if answer:
            return answer
        given = torch.tensor(number)
        self._question = dist.all_reduce(given, dist.ReduceOp.MAX, group=self._group, async_op=True), given
        return self._last_answer() if at_once else 0

    def _last_answer(self) -> int:
        if self._question is None:
            return 0
        (work, answer), self._question = self._question, None
        work.wait()
        return int(answer)

    def wait(self) -> None:
        """Wait until everybody has come here."""
        if self.size > 1:
            dist.barrier(group=self._group)
