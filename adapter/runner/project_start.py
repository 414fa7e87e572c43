"""What a script of a ``run:`` project does before it trains, where the trainer connects the processes."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, MutableMapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def is_main_process() -> bool:
    """Whether this process is the first of those that a launcher has started, or on its own."""
    from adapter.lightning.launch import started

    processes = started()
    return processes is None or processes.rank == 0


def main_process(function: F) -> Callable[..., Any]:
    """Decorator: the function runs in the main process; in the others it does nothing, and returns None."""

    @functools.wraps(function)
    def on_main(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if is_main_process() else None

    return on_main


def init_distributed_mode(run: MutableMapping[str, Any]) -> None:
    """Note in a run section whether a launcher has started several processes; the trainer connects them.

    Args:
        run: Gets ``distributed``, and of several processes ``world_size`` and ``gpu``, this one's number on its node.
    """
    from adapter.lightning.launch import started

    processes = started()
    run["distributed"] = processes is not None
    if processes is not None:
        run["world_size"], run["gpu"] = processes.world_size, processes.local_rank


def setup_logger() -> None:
    """Let the script's own log lines be seen: all of the main process, warnings of the others."""
    level = logging.INFO if is_main_process() else logging.WARNING
    logging.basicConfig(level=level, format="%(asctime)s [%(levelname)s] %(message)s")
