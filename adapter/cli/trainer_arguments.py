"""``--trainer.KEY=VALUE``: arguments that go to ``lightning.Trainer`` as they are."""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from adapter.errors import ConfigError, Problem, nearest

PREFIX = "--trainer."


def split_trainer_arguments(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Take ``--trainer.KEY=VALUE`` and ``--trainer.KEY VALUE`` out of a command line.

    Returns:
        The other words, and the values as text; of a key given twice the last wins.

    Raises:
        ConfigError: A key without a value.
    """
    rest: list[str] = []
    found: dict[str, str] = {}
    remaining = iter(words)
    for word in remaining:
        if not word.startswith(PREFIX):
            rest.append(word)
            continue
        key, equals, value = word.removeprefix(PREFIX).partition("=")
        if not equals:
            value = next(remaining, PREFIX)
        if value.startswith(PREFIX):
            raise ConfigError(Problem(f"{PREFIX}{key}", "has no value", fix=f"write {PREFIX}{key}=VALUE"))
        found[key] = value
    return rest, found


def read_trainer_arguments(texts: Mapping[str, str]) -> dict[str, Any]:
    """Values for ``lightning.Trainer``, read as YAML and checked against its signature.

    Lightning is imported only when there is something to check.

    Raises:
        ConfigError: Every key that the Trainer does not have, and every value of the wrong type.
    """
    if not texts:
        return {}
    from jsonargparse import ArgumentParser
    from lightning import Trainer

    parser = ArgumentParser(exit_on_error=False)
    parser.add_class_arguments(Trainer)
    parameters = inspect.signature(Trainer).parameters
    found = {key: _read(key, text, parser, parameters) for key, text in texts.items()}
    problems = [value for value in found.values() if isinstance(value, Problem)]
    if problems:
        raise ConfigError(problems, "command line")
    return found


def _read(key: str, text: str, parser: argparse.ArgumentParser, parameters: Mapping[str, inspect.Parameter]) -> Any:
    """The value of one argument, or what is wrong with it."""
    name = PREFIX + key
    if key not in parameters:
        guess = nearest(key, parameters)
        return Problem(name, "lightning.Trainer takes no such argument", nearest=guess, kind="name")
    try:
        value = getattr(parser.parse_args([f"--{key}={text}"]), key)
        json.dumps(value)
        return _as_written(value, text, parameters[key])
    except argparse.ArgumentError:
        allowed = inspect.formatannotation(parameters[key].annotation).replace("typing.", "")
        return Problem(name, f"found '{text}'", allowed=allowed)
    except TypeError:  # jsonargparse's description of an object, such as a logger, which nothing here would build
        return Problem(name, f"found '{text}', which names an object", allowed="numbers, texts, true, false, null")


def _as_written(value: Any, text: str, parameter: inspect.Parameter) -> Any:
    """The value, an integer where the text is one and the parameter allows it.

    ``Union[int, float]`` and ``Union[float, int]`` are one object to Python, in the order in which any library made it
    first; jsonargparse tries the types in that order, and Lightning takes 2 (batches) and 2.0 for different things.
    """
    whole = isinstance(value, float) and text.strip().lstrip("+-").isdigit()
    return int(value) if whole and int in _members(parameter.annotation) else value


def _members(annotation: Any) -> set[Any]:
    """The types of a union, at any depth."""
    inner = get_args(annotation)
    return set().union(*map(_members, inner)) if inner else {annotation}
