"""The documented config schema: typed sections, their checks, and the rules between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapter.config.config import Config
from adapter.dialects.move import Move, covers
from adapter.errors import Problem, at_line
from adapter.schema.check import check_section, check_value
from adapter.schema.checks import RULES
from adapter.schema.evaluation import Evaluation
from adapter.schema.field import documented_keys
from adapter.schema.run import Run
from adapter.schema.train import Train

__all__ = ["check", "where_written"]


def check(config: Config, keywords: Mapping[str, Any] | None = None, moves: Sequence[Move] = ()) -> list[Problem]:
    """Every problem of a documented config: types, ranges, choices, names, and the rules between sections.

    Args:
        config: Config with its old keys moved.
        keywords: Constructor keywords. What they give is not asked of the config: ``max_epochs``, an object
            as ``model``, a pair of ``optimizers`` of which either may be None.
        moves: What became of the old keys, so that a problem names the key that the user wrote.
    """
    problems = {problem.key: problem for problem in (*check_section(Run, config), *_keywords(keywords or {}))}
    for rule in RULES:
        for problem in rule(config, keywords or {}):
            problems.setdefault(problem.key, problem)
    given = tuple(_given(keywords or {}))
    found = [
        where_written(problem, config, moves)
        for problem in problems.values()
        if not any(covers(key, problem.key) for key in given)
    ]
    return sorted(found, key=lambda problem: (problem.line is None, problem.line or 0))


def _keywords(keywords: Mapping[str, Any]) -> Iterator[Problem]:
    """Problems of the keywords that stand in for keys of the config."""
    documented = documented_keys(Train) | documented_keys(Evaluation)
    for name, value in keywords.items():
        if name in documented and value is not None:
            yield from check_value(value, documented[name].kinds, documented[name].doc, name)


def _given(keywords: Mapping[str, Any]) -> Iterator[str]:
    """Sections of the config that an object passed in code stands in for."""
    optimizer, scheduler = keywords.get("optimizers") or (None, None)
    if keywords.get("model") is not None:
        yield "model"
    if optimizer is not None:
        yield "train.optimizer"
    if scheduler is not None:
        yield "train.lr_scheduler"


def where_written(problem: Problem, config: Config, moves: Sequence[Move]) -> Problem:
    """The problem with the key as the user spelled it, and its line."""
    move = next((move for move in moves if move.to and covers(move.to, problem.key)), None)
    if move:
        problem = replace(
            problem, key=move.key + problem.key[len(move.to) :], fix=problem.fix.replace(move.to, move.key)
        )
    return at_line(problem, config.line_of(problem.key))
