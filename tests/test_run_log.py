from __future__ import annotations

import gc
import io
import logging
import re
import sys

import pytest
from tqdm import tqdm

from adapter.run_log import ConsoleHandler, console_logger, run_logger

LINE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - adapter - (INFO|WARNING) - "


def log(path, main=True):
    logger = run_logger(path, main)
    logger.info("hello %d", 1)
    logger.warning("careful")
    return logger


def test_file_and_console_hold_the_same_lines(tmp_path, capsys):
    log(tmp_path / "run.log")
    text = (tmp_path / "run.log").read_text()
    assert re.fullmatch(rf"{LINE}hello 1\n{LINE}careful\n", text)
    assert capsys.readouterr().err == text


def test_the_file_and_its_folder_are_made_for_the_first_line(tmp_path):
    logger = run_logger(tmp_path / "work" / "run.log")
    assert list(tmp_path.iterdir()) == []
    logger.debug("too small to be written")
    assert list(tmp_path.iterdir()) == []
    logger.info("first")
    assert (tmp_path / "work" / "run.log").read_text().endswith("first\n")


def test_other_processes_print_errors_only_and_write_no_file(tmp_path, capsys):
    log(tmp_path / "run.log", main=False).error("broken")
    assert list(tmp_path.iterdir()) == []
    assert re.fullmatch(r".* - adapter - ERROR - broken\n", capsys.readouterr().err)


def test_two_runs_of_a_process_have_a_file_each(tmp_path, capsys):
    first, second = run_logger(tmp_path / "1.log"), run_logger(tmp_path / "2.log")
    first.info("of the first")
    second.info("of the second")
    assert (tmp_path / "1.log").read_text().endswith("of the first\n")
    assert (tmp_path / "2.log").read_text().endswith("of the second\n")
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_the_file_is_closed_with_its_logger(tmp_path):
    stream = log(tmp_path / "run.log").handlers[0].stream
    gc.collect()
    assert stream.closed


def test_one_console_handler_however_often_it_is_asked_for():
    console_logger()
    handlers = console_logger().handlers
    assert len([handler for handler in handlers if isinstance(handler, ConsoleHandler)]) == 1


@pytest.mark.parametrize("bar", [False, True])
def test_console_follows_a_redirected_stderr(monkeypatch, bar):
    console_logger()
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with tqdm(total=2, file=screen, disable=not bar, mininterval=0):
        logging.getLogger("adapter").warning("a line")
    lines = re.split(r"[\r\n]", screen.getvalue())
    assert [line for line in lines if re.fullmatch(rf"{LINE}a line", line)]
    assert any("0/2" in line for line in lines) is bar
