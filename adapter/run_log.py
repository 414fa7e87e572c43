"""The log of a run: one line format for the console and for ``<timestamp>.log``."""

from __future__ import annotations

import logging
import sys
import weakref
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from adapter.aside import close_quietly, refused_by_name

if TYPE_CHECKING:
    StreamHandler = logging.StreamHandler[TextIO]
else:
    StreamHandler = logging.StreamHandler  # cannot be subscripted before Python 3.11

LINE = "%(asctime)s - adapter - %(levelname)s - %(message)s"


class ConsoleHandler(StreamHandler):
    """Writes to stderr, above a progress bar that is being drawn."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        tqdm = sys.modules.get("tqdm")
        try:
            self.stream = sys.stderr  # looked up each time: whoever redirects stderr means these lines too
            if tqdm is not None and tqdm.tqdm._instances:
                tqdm.tqdm.write(self.format(record), file=sys.stderr)
            else:
                super().emit(record)
        except Exception:  # a log line must not end a run: logging's own way to report it
            self.handleError(record)


class LogFile(logging.FileHandler):
    """A file that is made, with its folder, for its first line: a run that is refused leaves nothing behind.

    It is closed when nobody holds its logger any more: whoever holds a trainer may log.
    """

    def _open(self) -> TextIOWrapper:
        with refused_by_name(Path(self.baseFilename)):
            Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
            stream = super()._open()
        weakref.finalize(self, close_quietly, stream)
        return stream

    def handleError(self, record: logging.LogRecord) -> None:
        """End the run when the disk is full: what it computes could not be saved either.

        Raises:
            WriteError: The line cannot be written.
        """
        error = sys.exc_info()[1]
        if isinstance(error, OSError):
            with refused_by_name(Path(self.baseFilename)):
                raise error
        super().handleError(record)


def console_logger() -> logging.Logger:
    """The package's logger, which prints to the console."""
    logger = logging.getLogger("adapter")
    if not any(isinstance(handler, ConsoleHandler) for handler in logger.handlers):
        handler = ConsoleHandler()
        handler.setFormatter(logging.Formatter(LINE))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
    return logger


def run_logger(path: Path, is_main_process: bool = True) -> logging.Logger:
    """A logger of one run: the console and the file ``path``, made when the first line is written.

    Processes other than the main one print errors only, and write no file.
    """
    logger = logging.Logger(f"adapter.{path.stem}", logging.INFO if is_main_process else logging.ERROR)
    logger.parent = console_logger()
    if is_main_process:
        handler = LogFile(path, encoding="utf-8", delay=True)
        handler.setFormatter(logging.Formatter(LINE))
        logger.addHandler(handler)
    return logger
