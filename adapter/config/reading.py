"""Reading a config file, by its suffix: JSON, YAML or, where trusted, Python; errors say what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adapter.config import json_text, yaml12
from adapter.config.document import Document, syntax_problem
from adapter.errors import ConfigError, Problem, nearest

SUFFIXES = (".json", ".yaml", ".yml", ".py")
PLAIN = (dict, list, tuple, str, int, float, type(None))


def read_file(filename: str, trust_remote_code: bool = False) -> tuple[str, Document]:
    """The text of a config file, and what it says.

    Raises:
        ConfigError: No such file, not readable as text, or see :func:`read_text`.
    """
    path = Path(filename)
    problem = _not_there(path) or _unknown_format(path.suffix)
    if problem:
        raise ConfigError(problem, filename)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(_broken(f"cannot be read as UTF-8 text: {error}"), filename) from error
    return text, read_text(text, path.suffix, filename, trust_remote_code)


def read_text(text: str, suffix: str, filename: str | None = None, trust_remote_code: bool = False) -> Document:
    """What a config's text says.

    Args:
        text: The whole text.
        suffix: Its format: ``.json``, ``.yaml``, ``.yml`` or ``.py``.
        filename: Name to use in errors.
        trust_remote_code: Run Python configs instead of refusing them.

    Raises:
        ConfigError: Unknown format, broken syntax, nothing in it, a top level that is no mapping, or Python
            that is not trusted.
    """
    try:
        document = _parse(text, suffix.lower(), filename, trust_remote_code)
    except ConfigError as error:
        raise (error.with_file(filename) if filename else error) from error.__cause__
    except (RecursionError, ValueError) as error:  # a number of thousands of digits is a ValueError
        raise ConfigError(_broken(f"cannot be read: {error}"), filename) from error
    if document.values is None:
        raise ConfigError(_broken("the file is empty", fix="start from configs/quickstart.yaml"), filename)
    if not isinstance(document.values, dict):
        found = f"the top level is a {type(document.values).__name__}"
        raise ConfigError(_broken(found, allowed="a mapping of sections (train, model, ...)"), filename)
    return document


def _parse(text: str, suffix: str, filename: str | None, trust_remote_code: bool) -> Document:
    problem = _unknown_format(suffix)
    if problem:
        raise ConfigError(problem)
    if suffix == ".py":
        return _run_python(text, filename or "<config>", trust_remote_code)
    if not text.strip():
        return Document(None)
    return json_text.read(text) if suffix == ".json" else yaml12.read(text)


def _run_python(text: str, filename: str, trust_remote_code: bool) -> Document:
    """The plain values that a Python config assigns to public names."""
    if not trust_remote_code:
        fix = "pass --trust-remote-code (trust_remote_code=True in code) if you trust where it comes from"
        raise ConfigError(_broken("a Python config runs code when it is read", fix=fix))
    scope: dict[str, Any] = {"__name__": "config", "__file__": filename}
    try:
        exec(compile(text, filename, "exec"), scope)
    except SyntaxError as error:
        problem = syntax_problem(text, error.lineno or 1, error.offset or 1, f"not valid Python: {error.msg}")
        raise ConfigError(problem) from error
    except Exception as error:  # whatever the user's file raises
        raise ConfigError(_broken(f"running it failed: {type(error).__name__}: {error}")) from error
    return Document({k: v for k, v in scope.items() if not k.startswith("_") and isinstance(v, PLAIN)})


def _not_there(path: Path) -> Problem | None:
    if path.is_file():
        return None
    if path.is_dir():
        inside = [name for name in _names(path) if name.lower().endswith(SUFFIXES)]
        return _broken("a directory, not a config file", fix=_name_one_of(inside))
    if path.exists():
        return _broken("not a regular file")
    if not path.parent.is_dir():
        return _broken(f"no such file, nor a directory '{path.parent}'", fix="check the path")
    return _broken("no such file", near=nearest(path.name, _names(path.parent)), fix="check the path")


def _unknown_format(suffix: str) -> Problem | None:
    if suffix.lower() in SUFFIXES:
        return None
    found = f"unknown config format '{suffix}'" if suffix else "the file name has no suffix"
    return _broken(found, allowed=", ".join(SUFFIXES), near=nearest(suffix, SUFFIXES))


def _name_one_of(files: list[str]) -> str:
    listed = ", ".join([*files[:5], *(["..."] if len(files) > 5 else [])])
    return f"name a file in it: {listed}" if files else "there is no config file in it; check the path"


def _names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def _broken(found: str, allowed: str = "", near: str = "", fix: str = "") -> Problem:
    """A problem of the file as a whole."""
    return Problem("", found, allowed=allowed, nearest=near, fix=fix, kind="file")
