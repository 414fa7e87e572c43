"""The two spellings of "when": ``by_epoch: true`` and ``*_strategy: by_epoch``."""

from __future__ import annotations

from adapter.errors import ConfigError, Problem, nearest

STRATEGIES: dict[str, bool | None] = {"by_epoch": True, "by_step": False, "no": None}


def by_epoch_of(key: str, strategy: str | None, by_epoch: bool | None) -> bool | None:
    """True for once an epoch, False for once an iteration, None for never.

    Args:
        key: The newer spelling's key (``save_strategy``), named in an error.
        strategy: ``by_epoch``, ``by_step`` or ``no``; None when the config does not use the newer spelling.
        by_epoch: The older spelling's value, which the newer one overrides.

    Raises:
        ConfigError: Another strategy.
    """
    if strategy is None:
        return by_epoch
    if strategy not in STRATEGIES:
        raise ConfigError(
            Problem(
                key,
                f"found {strategy!r}",
                allowed=", ".join(STRATEGIES),
                nearest=nearest(strategy, STRATEGIES),
            )
        )
    return STRATEGIES[strategy]
