"""What stands in the text of the pages, outside of blocks: links, commands, options, tables of facts."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import inspect
import re
import shlex
from pathlib import Path

import pytest
from lightning import Trainer

from adapter.cli.main import complete_parser, find_commands, parse
from adapter.dialects.run import TABLE
from adapter.hooks.hook import STAGES
from adapter.hooks.priority import get_priority
from adapter.lightning.hook_callback import STAGE_METHODS
from adapter.registry import HOOKS, STRATEGIES
from adapter.schema.hooks import ARGUMENTS
from adapter.schema.locate import locate
from tests.conftest import ROOT
from tests.documents.page import Page, read
from tests.documents.shell import unknown_requirements
from tests.documents.test_pages import PAGES

BENCHMARKS = ROOT / "tests" / "benchmarks" / "README.md"
OF_LIGHTNING_CLI = ("--config", "--ckpt_path", "--print_config")
OF_OTHERS = ("--cfg-path", "--local-rank")  # of scripts that are spoken of
EXAMPLES = {"KIND": "hook", "SHELL": "bash"}  # of words that stand for one of a few
HOOKS_PAGE = ROOT / "migration_guide" / "hook_by_hook.md"


@pytest.fixture(params=PAGES, ids=lambda path: path.stem)
def page(request: pytest.FixtureRequest) -> Page:
    return read(request.param)


@pytest.mark.parametrize("path", [*PAGES, BENCHMARKS], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    page = read(path)
    lost = []
    for link in page.links:
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        found = "://" in link or (target.exists() and (not anchor or anchor in read(target).anchors))
        lost += [] if found else [link]
    assert lost == []


def test_the_readme_lists_every_page_of_the_guide() -> None:
    text = (ROOT / "README.md").read_text()
    listed = re.findall(r"\]\((migration_guide/\w+\.md)\)", text[text.index("## More") :])
    assert sorted(listed) == [str(path.relative_to(ROOT)) for path in PAGES[1:]]


def test_commands_in_the_text_are_commands(page: Page) -> None:
    spans = [span for span in page.spans if re.match(r"(adapter|pip|python|torchrun) [a-z-]", span)]
    assert [span for span in spans if not _is_command(span)] == []


def test_options_in_the_text_are_options(page: Page) -> None:
    known = {*_options(), *OF_LIGHTNING_CLI, *OF_OTHERS, *(f"--trainer.{name}" for name in _trainer_arguments())}
    options = {re.split("[= ]", span)[0] for span in page.spans if span.startswith("--")}
    placeholders = ("--trainer.KEY",)
    free = ("--data.", "--model.", "--train.")  # keys of a config, as LightningCLI and arg_parse_fn spell them
    assert sorted(each for each in options - known if not each.startswith((*free, *placeholders))) == []


def test_keys_in_the_text_are_keys(page: Page) -> None:
    keys = {key for span in page.spans for key in re.findall(r"^(?:train|evaluation|run)\.(?!py\b)\w+(?:\.\w+)*", span)}
    run_keys = {*TABLE, *(key for key in keys if key.startswith("run.hooks"))}
    unknown = [key for key in keys if not (key in run_keys if key.startswith("run.") else locate({}, key).known)]
    assert sorted(unknown) == []


def test_imports_in_the_text_find_what_they_name(page: Page) -> None:
    nodes = [ast.parse(span).body[0] for span in page.spans if re.match(r"(from|import) adapter", span)]
    named = [
        (node.module or "", alias.name) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    assert [name for module, name in named if not hasattr(importlib.import_module(module), name)] == []
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    assert [module for module in modules if importlib.util.find_spec(module) is None] == []


def test_the_table_of_stages_is_the_one_that_runs() -> None:
    rows = [row for row in _rows(HOOKS_PAGE) if row[1].startswith("`")]
    told = {stage: row[1].split("`")[1] for row in rows for stage in row[0].replace("`", "").split(", ")}
    assert told == STAGE_METHODS
    assert list(told) == [stage for stage in STAGES if stage in told]


def test_the_table_of_hooks_names_each_with_its_priority() -> None:
    rows = [row for row in _rows(HOOKS_PAGE) if re.match(r"[A-Z_]+ \d", row[1])]
    told = {name: row[1] for row in rows for name in re.findall(r"\w+Hook", re.sub(r"\(.*?\)", "", row[0]))}
    priorities = {name: get_priority(HOOKS.resolve(name).PRIORITY) for name in ARGUMENTS}
    assert {name: int(text.split()[1]) for name, text in told.items()} == priorities


def test_the_table_of_strategies_names_each_one() -> None:
    rows = _rows(ROOT / "migration_guide" / "strategy_by_strategy.md")
    told = [row[2].strip("`") for row in rows if len(row) == 5 and re.match("`[a-z]", row[2])]
    assert sorted(told) == sorted(STRATEGIES.names())


def test_the_example_of_each_command_names_files_that_exist() -> None:
    named = re.findall(r"configs/\S+\.yaml", " ".join(path.read_text() for path in (ROOT / "adapter/cli").glob("*.py")))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def _is_command(text: str) -> bool:
    """Whether a command in a line of text is one: its options, and how many arguments it has, included."""
    program, *words = shlex.split(text)
    if program == "adapter":
        optional = re.sub(r"[\[\]]|\.\.\.|\s>.*", "", text)
        return _parses(*shlex.split(optional)[1:])
    if program == "pip":
        return unknown_requirements(words[1:]) == []
    module = words[words.index("-m") + 1] if "-m" in words else ""
    if program == "torchrun":
        return module == "adapter" and _parses(*words[words.index("-m") + 2 :])
    return importlib.util.find_spec(module) is not None if module else words[0].endswith(".py")


def _parses(name: str, *words: str) -> bool:
    """Whether a command takes these words; a name alone speaks of it, and what it works on may be left out."""
    command = find_commands().get(name)
    if command is None or not words:
        return command is not None
    words = tuple(EXAMPLES.get(word, word) for word in words)
    for given in (words, ("CONFIG", *words), (*words, "--ckpt", "PATH", "--out", "FILE")):
        try:
            parse(name, command, given)
        except SystemExit:
            continue
        return True
    return False


def _options() -> set[str]:
    """Every option of every command."""
    options: set[str] = {"--version", "--help"}
    for command in find_commands().values():
        parser = argparse.ArgumentParser()
        complete_parser(parser, command)
        options |= {option for action in parser._actions for option in action.option_strings}
    return options


def _trainer_arguments() -> list[str]:
    return list(inspect.signature(Trainer).parameters)


def _rows(path: Path) -> list[list[str]]:
    """The cells of each row of a page's tables."""
    lines = [line for line in path.read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
