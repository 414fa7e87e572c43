"""Run a Python script written for ModelScope, or the train.py of a run: project, unchanged.

Names that the script imports from ``modelscope`` are the adapter's; with ModelScope installed, its trainers only.
Modules of a run: project that the script does not find (``trainer``, ``common.registry``) are the adapter's.
"""

from __future__ import annotations

import argparse
import runpy
import sys
import traceback
from pathlib import Path

from adapter.errors import ConfigError, Problem

EXAMPLE = "  adapter run train.py --max_epochs 5"
TAKES_REST = True  # all words after the script are the script's


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``adapter run``."""
    parser.add_argument("script", metavar="SCRIPT", help="the script; it runs as `python SCRIPT` would")
    words = parser.add_argument("words", metavar="ARGS", nargs=argparse.REMAINDER, help="arguments of the script")
    words.required = False  # there may be none, which argparse knows, but does not say


def run(args: argparse.Namespace) -> int:
    """Run the script; its exit status, 1 after an exception, of which the traceback is shown.

    Raises:
        ConfigError: No such script, or it imports a name that is not served.
    """
    if not Path(args.script).is_file():
        raise ConfigError(Problem("", "no such file", fix="name a Python script", kind="file"), args.script)
    from adapter.modelscope_names import finder
    from adapter.runner import project_names
    from adapter.served_modules import UnknownImportError

    finder.serve()
    project_names.serve()
    folder = Path(args.script).resolve().parent
    told = project_names.own_loop(folder)
    if told:
        print(told, file=sys.stderr)
    sys.argv = [args.script, *args.words]
    sys.path.insert(0, str(folder))
    try:
        runpy.run_path(args.script, run_name="__main__")
    except UnknownImportError as error:
        raise ConfigError(Problem("", str(error), kind="name"), _place(error)) from error
    except ConfigError:
        raise
    except Exception as error:  # the script's own failure, shown as Python would show it
        traceback.print_exception(error)
        return 1
    return 0


def _place(error: BaseException) -> str:
    """File and line of the innermost code that is not Python's import machinery."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    own = [frame for frame in frames if Path(__file__).parents[1] not in Path(frame.filename).parents]
    return f"{own[-1].filename}:{own[-1].lineno}"
