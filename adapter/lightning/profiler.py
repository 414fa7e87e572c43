"""Profilers: Lightning's by name, writing to the work directory; and one that measures nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from lightning.pytorch.profilers import AdvancedProfiler, PassThroughProfiler, Profiler, PyTorchProfiler, SimpleProfiler

from adapter.errors import REFUSALS, ConfigError, Problem, nearest, reason_of
from adapter.registry import check_arguments

PROFILERS: Mapping[str, type[Profiler]] = {
    "simple": SimpleProfiler,
    "advanced": AdvancedProfiler,
    "pytorch": PyTorchProfiler,
}
KEY = "train.profiler"


def build_profiler(asked: Any, work_dir: str) -> Any:
    """The profiler that is asked for.

    Args:
        asked: A name; ``{"type": name, **arguments of Lightning's class}``; None for none; another object as it is.
        work_dir: Where ``fit-profile.txt`` is written, unless the arguments name another place.

    Raises:
        ConfigError: Another name, or an argument that the class does not take.
    """
    if asked is None:
        return SilentProfiler()
    if not isinstance(asked, (str, Mapping)):
        return asked
    args = {"type": asked} if isinstance(asked, str) else dict(asked)
    name = str(args.pop("type", ""))
    if name not in PROFILERS:
        found = f"no profiler is called '{name}'"
        raise ConfigError(Problem(KEY, found, ", ".join(PROFILERS), nearest(name, PROFILERS), kind="name"))
    check_arguments(PROFILERS[name], args, KEY)
    try:
        return PROFILERS[name](**{"dirpath": work_dir, "filename": "profile", **args})
    except REFUSALS as error:
        raise ConfigError(Problem(KEY, f"{name} refuses its arguments: {reason_of(error)}")) from error


class SilentProfiler(PassThroughProfiler):
    """A profiler that measures nothing, without the generator Lightning's enters around every hook (20 us an iter)."""

    @staticmethod
    def profile(action_name: str) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]
        """A context that does nothing."""
        return _NOTHING


_NOTHING: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
