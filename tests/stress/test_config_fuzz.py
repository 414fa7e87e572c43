"""The short form of the stress script, which shrinks what fails; it breaks the same configs each time."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from tests.stress.config_fuzz import BASES, broken_configs, outcome, workshop


@settings(max_examples=60, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(broken_configs())
def test_a_broken_config_runs_or_is_refused_by_key(broken: tuple[dict[str, Any], list[str]]) -> None:
    with workshop() as folder:
        outcome(broken[0], folder)


def test_the_configs_to_break_run() -> None:
    with workshop() as folder:
        assert [outcome(config, folder) for config in BASES] == ["ran"] * len(BASES)
