"""The user's own code: modules and files that register classes, named on the command line or in a config."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from adapter.config import Config
from adapter.errors import ConfigError, Problem

WRAPPER = "ms_wrapper.py"


def declared_imports(config: Config, trust_remote_code: bool) -> list[str]:
    """The modules a config itself asks to import: its ``custom_imports``, and once they are trusted its ``plugins``.

    With ``allow_remote``, also once it is trusted, ``ms_wrapper.py`` beside the config, which is where models of
    ModelScope's hub keep their own classes.

    Raises:
        ConfigError: It has ``custom_imports``, and the trust is not given.
    """
    declared = config.get("custom_imports") or []
    if isinstance(declared, Mapping):
        declared = declared.get("imports") or []
    declared = [declared] if isinstance(declared, str) else list(declared)
    if declared and not trust_remote_code:
        raise ConfigError(
            Problem(
                "custom_imports",
                f"the config asks to run code: {', '.join(map(str, declared))}",
                fix="if you trust it, pass --trust-remote-code (trust_remote_code=True); or leave the key out and "
                "pass --import MODULE yourself",
                line=config.line_of("custom_imports"),
            ),
            config.filename,
        )
    plugins = config.get("plugins") or []
    if trust_remote_code:
        declared += [plugins] if isinstance(plugins, str) else list(plugins)
    base = Path(config.filename).parent if config.filename else Path()
    if trust_remote_code and config.get("allow_remote") and config.filename and (base / WRAPPER).is_file():
        declared.append(WRAPPER)
    return [str(base / name) if name.endswith(".py") else name for name in declared]


def import_user_code(names: Sequence[str]) -> None:
    """Import modules or Python files, for what they register.

    Raises:
        ConfigError: One that does not exist or cannot be imported.
    """
    for name in names:
        try:
            if name.endswith(".py"):
                _import_file(Path(name))
            else:
                sys.path.insert(0, os.getcwd())
                try:
                    importlib.import_module(name)
                finally:
                    sys.path.remove(os.getcwd())
        except (Exception, SystemExit) as error:  # whatever the user's own code raises
            raise ConfigError(
                Problem(
                    "--import",
                    f"cannot import '{name}': {type(error).__name__}: {error}",
                    allowed="a Python file, or a module on PYTHONPATH or in this folder",
                )
            ) from error


def _import_file(path: Path) -> None:
    if not path.is_file():
        raise FileNotFoundError(f"no file '{path}'")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"'{path}' is not a Python file")
    if path.stem in sys.modules:
        known = getattr(sys.modules[path.stem], "__file__", None)
        if known is not None and os.path.realpath(known) == os.path.realpath(path):
            return
        raise ImportError(f"its name is that of a module already imported ('{path.stem}'); rename the file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]
        raise
