"""From a config file to a config on its documented keys, checked: load, prepare, check."""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adapter import schema
from adapter.config import Config
from adapter.dialects import detect, modelscope, run
from adapter.dialects.model_directory import take_directory
from adapter.dialects.move import Move, covers
from adapter.errors import ConfigError, Problem, at_line
from adapter.fates import fates, unread
from adapter.models.directory import config_in
from adapter.plan import make_plan
from adapter.schema.run_checks import run_problems

Modify = Callable[[Config], Any]
UNTRUSTED = ("plugins", "allow_remote")  # keys that ask to run code from elsewhere


@dataclass(frozen=True)
class Prepared:
    """A config on its documented keys.

    Attributes:
        original: What the user wrote, with the user's overrides; of a ``run:`` config with changes in code, too.
        config: The same with the default hooks, the user's changes in code, and old keys moved.
        moves: Each key that was moved or dropped, with the reason.
    """

    original: Config
    config: Config
    moves: tuple[Move, ...] = ()


def load(source: str | os.PathLike[str] | Mapping[str, Any], trust_remote_code: bool = False) -> Config:
    """Read a config file, or that of a model directory; a mapping is taken as it is.

    Raises:
        ConfigError: No such file, or one that cannot be read.
    """
    if isinstance(source, Config):
        return copy.deepcopy(source)
    if isinstance(source, Mapping):
        return Config(source)
    config = Config.from_file(config_in(os.fspath(source)) or source, trust_remote_code)
    refuse_converted(config, os.fspath(source))
    return config


def refuse_converted(config: Config, path: str) -> None:
    """Refuse a LightningCLI file, whose sections have names of a config's and mean something else.

    Raises:
        ConfigError: It is one; tells what runs it.
    """
    if any(isinstance(value, Mapping) and "class_path" in value for value in (config.get("model"), config.get("data"))):
        fix = f"`adapter lightning fit --config {path}` runs it"
        raise ConfigError(Problem("", "a LightningCLI file, and not a config", fix=fix, kind="file"), path)


def prepare(config: Config, modify: Modify | None = None, options: Mapping[str, Any] | None = None) -> Prepared:
    """Bring a config onto its documented keys.

    In this order, which configs rely on: default hooks are merged in, ``modify`` changes the config (so one that
    replaces ``train.hooks`` drops the defaults), ``options`` are merged, old keys are moved, and a model directory of
    ModelScope is asked for what the config leaves to it.

    Args:
        config: As the user wrote it; left as it is.
        modify: Changes a config in place or returns another.
        options: Dotted key to value.
    """
    original, config = copy.deepcopy(config), copy.deepcopy(config)
    is_run = detect(original) == "run"
    if not is_run:
        modelscope.merge_default_hooks(config)
    if modify is not None:
        changed = modify(config)
        if changed is not None:
            config = changed if isinstance(changed, Config) else Config(changed, filename=config.filename)
    for each in (original, config):
        each.merge_from_dict(options or {})
    if is_run:
        documented, moves = run.to_documented(config)
        return Prepared(config, documented, tuple(moves))
    if options:
        modelscope.put_default_hooks_last(config, original)
    return Prepared(original, config, (*modelscope.move_old_keys(config, original), *take_directory(config)))


def check(prepared: Prepared, keywords: Mapping[str, Any] | None = None, strict: bool = False) -> None:
    """Refuse a config that cannot be run, with all of its problems at once.

    Args:
        prepared: The config.
        keywords: Constructor keywords, which stand in for keys the config lacks.
        strict: Refuse keys that nobody reads, too.

    Raises:
        ConfigError: There is at least one problem.
    """
    problems = problems_of(prepared, keywords)
    if strict:
        plan = make_plan(prepared.config, keywords)
        problems += unread(fates(prepared.original, prepared.config, prepared.moves, plan))
    if problems:
        raise ConfigError(problems, prepared.original.filename)


def problems_of(prepared: Prepared, keywords: Mapping[str, Any] | None = None) -> list[Problem]:
    """Everything that speaks against running a config, with each key as the user spelled it."""
    if detect(prepared.original) != "run":
        return schema.check(prepared.config, keywords, prepared.moves)
    passed = [key for key, given in (keywords or {}).items() if given]  # keys whose objects were made in code
    found = run_problems(prepared.original)
    own = {each.key: each for each in found if not any(covers(key, each.key) for key in passed)}
    if not any(problem.kind == "value" for problem in own.values()):
        for problem in schema.check(prepared.config, keywords, prepared.moves):
            hook, ours = (problem.key.startswith(start) for start in ("run.hooks[", "run."))
            if hook or (ours and problem.kind != "missing"):  # the rest is about keys that such a config does not have
                own.setdefault(problem.key, problem)
    line_of = prepared.original.line_of
    placed = [at_line(problem, line_of(problem.key)) for problem in own.values()]
    return sorted(placed, key=lambda problem: (problem.line is None, problem.line or 0))


def unread_keys(prepared: Prepared, keywords: Mapping[str, Any]) -> list[str]:
    """A sentence for the keys of the config that nobody reads."""
    plan = make_plan(prepared.config, keywords)
    keys = [problem.key for problem in unread(fates(prepared.original, prepared.config, prepared.moves, plan))]
    return [f"nothing reads {', '.join(keys)} (`adapter explain` shows the nearest known keys)"] if keys else []


@contextlib.contextmanager
def located(prepared: Prepared) -> Iterator[None]:
    """Problems found while building name the file, the key as the user spelled it, and its line."""
    try:
        yield
    except ConfigError as error:
        config = prepared.original  # it knows the lines of its file
        problems = [schema.where_written(problem, config, prepared.moves) for problem in error.problems]
        raise type(error)(problems, error.file or prepared.original.filename) from error


def refuse_untrusted(config: Config, trust_remote_code: bool) -> None:
    """Refuse a config that asks to run code of others, unless it is trusted.

    Raises:
        RuntimeError: It declares ``plugins`` or ``allow_remote``.
    """
    declared = [key for key in UNTRUSTED if config.get(key)]
    if declared and not trust_remote_code:
        raise RuntimeError(
            f"the config declares {' and '.join(declared)}, which run code from elsewhere; "
            "pass trust_remote_code=True if you trust it"
        )
