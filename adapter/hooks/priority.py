"""Priority of a hook within a stage: the lower number runs first."""

from __future__ import annotations

from enum import Enum

from adapter.errors import ConfigError, Problem, nearest


class Priority(Enum):
    """Named priorities; any integer from 0 to 100 may be used as well."""

    HIGHEST = 0
    VERY_HIGH = 10
    HIGH = 30
    ABOVE_NORMAL = 40
    NORMAL = 50
    BELOW_NORMAL = 60
    LOW = 70
    VERY_LOW = 90
    LOWEST = 100


def get_priority(priority: int | str | Priority) -> int:
    """The number of a priority given as an integer, a name in any case, or a ``Priority``.

    Raises:
        ConfigError: Outside 0 to 100, or an unknown name.
    """
    if isinstance(priority, Priority):
        return priority.value
    if isinstance(priority, int) and not isinstance(priority, bool) and 0 <= priority <= 100:
        return priority
    if isinstance(priority, str) and priority.upper() in Priority.__members__:
        return Priority[priority.upper()].value
    raise ConfigError(
        Problem(
            "PRIORITY",
            f"found {priority!r}",
            nearest=nearest(priority, Priority.__members__),
            allowed=f"0 to 100 or one of {', '.join(Priority.__members__)}",
        )
    )
