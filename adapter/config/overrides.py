"""Overrides on the command line: ``train.max_epochs=3``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adapter.config import yaml12
from adapter.errors import ConfigError, Problem

QUOTING = "put quotes around text that has YAML's special characters: KEY='\"...\"'"
EXAMPLE = "write KEY=VALUE, such as train.max_epochs=3 or train.hooks.CheckpointHook.interval=2"


def parse_overrides(overrides: Iterable[str]) -> dict[str, Any]:
    """Options for :meth:`Config.merge_from_dict` from ``key=value`` texts; the last one of a key wins.

    Values are read as YAML: ``1e-3`` is a number, ``[a, b]`` a list, ``{type: SGD}`` a dict, nothing null.

    Raises:
        ConfigError: One problem for each text that is not of that form.
    """
    options: dict[str, Any] = {}
    problems: list[Problem] = []
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or not all(key.strip().split(".")) or key.startswith("-"):
            problems.append(Problem("", f"'{text}' is not an override", fix=EXAMPLE))
            continue
        try:
            options[key.strip()] = yaml12.read(value).values
        except ConfigError as error:
            problems.append(Problem(key, f"the value is {error.problems[0].found}", fix=QUOTING))
    if problems:
        raise ConfigError(problems)
    return options
