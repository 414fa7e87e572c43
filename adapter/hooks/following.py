"""What the hooks that follow a metric share: its newest value, and which of two values is better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter.errors import ConfigError, MissingEntryError, Problem, nearest
from adapter.hooks.hook import Hook

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

RULES = ("max", "min")


def check_rule(rule: str) -> str:
    """The rule as it is: ``max`` when more is better, ``min`` when less is.

    Raises:
        ConfigError: It is another word.
    """
    if rule not in RULES:
        raise ConfigError(Problem("rule", f"found {rule!r}", allowed=" or ".join(RULES), nearest=nearest(rule, RULES)))
    return rule


def newest_value(hook: Hook, metric_key: str, trainer: EpochBasedTrainer) -> Any:
    """The newest value of the metric that a hook follows; None before the first evaluation.

    Raises:
        MissingEntryError: The evaluation has no value of that name.
    """
    values = trainer.metric_values
    if values is None:
        return None
    if metric_key not in values:
        found = f"{type(hook).__name__}: metric_key '{metric_key}' is not among the evaluation's values: "
        raise MissingEntryError(Problem(hook.key_of(trainer, "metric_key"), found + ", ".join(values)))
    return values[metric_key]
