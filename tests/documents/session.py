"""A page read from top to bottom, in one folder: its files are written, its commands run.

===========  ===========================  =============================================================
block        comment before it            what is done with it
===========  ===========================  =============================================================
any          ``file: NAME``               written as a file, which the page has to use further down
yaml, json   ``file: NAME over BASE``     the same, laid over a config that is there
yaml, json   ``fit: over BASE [WORDS]``   laid over a config, and trained: ``adapter fit``, with WORDS
diff         ``fit: over BASE``           both sides are; ``adapter migrate`` makes the new of the old
diff         ``file: NAME.py``            the old side runs under ``adapter run``, the new under Python
python                                    run as a script
bash                                      its commands run, and end as ``# exit status N`` says, or with 0
console                                   the same; what is printed is what the page shows
files                                     the files are there that a sentence beginning ``Files:`` names
===========  ===========================  =============================================================

Any other block is an error.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import yaml

from adapter.config import Config
from adapter.migrate import migrate
from tests.conftest import ROOT
from tests.distributed.launches import free_port
from tests.documents import forked
from tests.documents.page import Block, Page, sides
from tests.documents.shell import Command, agrees, commands_of, console, plain, unknown_requirements

CONFIG = "config.yaml"  # what a block laid over another config is called
GIVEN = Path(__file__).with_name("given")  # a folder a page: what its reader has already
FEW = ("train.max_epochs=1", "train.train_iters_per_epoch=2", "evaluation.val_iters_per_epoch=1")
LONG = ("images/digits", "images/easycv", "images/mnist", "text/classification")
SHORT = {f"configs/{name}.yaml": FEW for name in LONG}
READ = ("ls", "cat")


class Session:
    """What has been done of a page.

    Args:
        page: The page.
        folder: An empty one.
    """

    def __init__(self, page: Page, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.printed = ""
        self.idle: dict[str, int] = {}  # file -> line of its block, until the page names it
        shutil.copytree(ROOT / "configs", folder / "configs")
        given = GIVEN / page.path.stem
        if given.is_dir():
            shutil.copytree(given, folder, dirs_exist_ok=True)

    def read(self) -> None:
        """Do everything, and see that nothing was left unused."""
        for block in self.page.blocks:
            where = f"{self.page.path.name}, line {block.line}"
            said = f"{block.words} {block.text}"
            self.idle = {name: line for name, line in self.idle.items() if name not in said}
            try:
                self.do(block)
            except AssertionError as error:
                raise AssertionError(f"{where}: {error}") from None
        assert not self.idle, f"{self.page.path.name}: files that nothing uses, with their lines: {self.idle}"

    def do(self, block: Block) -> None:
        """Do what a block is for."""
        given = (block.kind, block.verb)
        if given == ("diff", "file"):
            self.compare_scripts(block)
        elif given == ("diff", "fit"):
            old, new = (self.over(block.words[1], text) for text in sides(block.text))
            migrated = self.migrated(old)
            assert migrated == new, f"adapter migrate gives\n{migrated}\nnot\n{new}"
            self.fit(new, *block.words[2:])
        elif block.verb == "fit" and block.kind in ("yaml", "json"):
            self.fit(self.over(block.words[1], block.text), *block.words[2:])
        elif block.verb == "file":
            self.write(block)
        elif given == ("python", ""):
            (self.folder / "block.py").write_text(block.text)
            self.run(Command(("python", "block.py")))
        elif given in (("bash", ""), ("console", "")):
            for command in commands_of(block.text) if block.kind == "bash" else console(block.text):
                self.run(command)
        elif block.kind == "files":
            missing = [name for name in block.names if not any(self.folder.glob(_pattern(name)))]
            assert not missing, f"not written: {missing}; there are {sorted(self.names())}"
        else:
            raise AssertionError(f"a block '{block.kind}' with the comment '{block.verb}' cannot be tested")

    def write(self, block: Block) -> None:
        """Write a block as a file."""
        name, *over = block.words
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text if not over else _dumped(self.over(over[1], block.text)))
        self.idle[name] = block.line

    def over(self, base: str, text: str) -> dict[str, Any]:
        """A config with another laid over it."""
        return _laid_over(Config.from_file(str(self.folder / base)), Config.from_string(text, ".yaml"))

    def migrated(self, config: dict[str, Any]) -> dict[str, Any]:
        """What ``adapter migrate`` makes of a config."""
        (self.folder / CONFIG).write_text(_dumped(config))
        return Config.from_string(migrate(str(self.folder / CONFIG)).text, ".yaml").to_dict()

    def fit(self, config: dict[str, Any], *words: str) -> None:
        """Train a config, in work folders that hold nothing."""
        for folder in self.folder.glob("work_dir*"):
            shutil.rmtree(folder)
        (self.folder / CONFIG).write_text(_dumped(config))
        self.run(Command(("adapter", "fit", CONFIG, *words)))

    def compare_scripts(self, block: Block) -> None:
        """Run a script before and after a change."""
        old, new = sides(block.text)
        for program, text in ((("adapter", "run"), old), (("python",), new)):
            (self.folder / block.words[0]).write_text(text)
            self.run(Command((*program, block.words[0])))

    def run(self, command: Command) -> None:
        """Run one command, and see how it ends and what it prints."""
        words = command.words
        status = command.status
        if words[:2] == ("pip", "install"):
            unknown = unknown_requirements(words[2:])
            assert not unknown, f"pyproject.toml has no {unknown}"
            return
        if words == ("pytest",):
            return  # what runs this
        if words:
            status = self.start(words)
        shown = " ".join(words)
        assert status == command.status, f"`{shown}` ended with status {status}:\n{self.printed}"
        if command.output is not None:
            told = f"`{shown}` printed\n{plain(self.printed)}\nwhere the page has\n{command.output}"
            assert agrees(command.output, self.printed), told

    def start(self, words: tuple[str, ...]) -> int:
        """Run a program to its end; returns its status."""
        variables: list[dict[str, str]] = [{"MASTER_PORT": str(free_port())}]
        if words[0] in READ:
            words = ("python", str(Path(__file__).with_name("reading.py")), *words)
        if words[0] == "torchrun":
            words, variables = _torchrun(words)
        assert words[0] in ("adapter", "python"), f"a program that no test runs: {words[0]}"
        short = next((SHORT[word] for word in words if word in SHORT), ())
        ended = forked.run(*[(*words, *short)] * len(variables), folder=self.folder, variables=variables)
        self.printed = ended.text.replace(f"{self.folder}/", "")
        return ended.status

    def names(self) -> list[str]:
        """The files of work folders."""
        return [str(path.relative_to(self.folder)) for path in self.folder.glob("work_dir*/**/*")]


def _torchrun(words: tuple[str, ...]) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """The program that ``torchrun --nproc_per_node N -m adapter ...`` starts, and what it tells each process."""
    option, number, *program = words[1:]
    assert (option, program[0]) == ("--nproc_per_node", "-m"), words
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": number}
    shared |= {"LOCAL_WORLD_SIZE": number, "GROUP_RANK": "0"}
    variables = [{**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(int(number))]
    return tuple(program[1:]), variables


def _dumped(config: dict[str, Any]) -> str:
    return yaml.safe_dump(config, sort_keys=False)


def _laid_over(base: Any, top: Any) -> Any:
    """A config with another on top; a mapping with a type of its own takes the place of the one that is there."""
    if not isinstance(base, dict) or not isinstance(top, dict) or "type" in top:
        return Config(top).to_dict() if isinstance(top, dict) else top
    mine = {name: value for name, value in base.items() if name not in top}
    return Config({**mine, **{name: _laid_over(base.get(name), value) for name, value in top.items()}}).to_dict()


def _pattern(name: str) -> str:
    """A file's name in a page as a pattern: ``epoch_N.pth``, ``<timestamp>.log``."""
    place = "" if name.startswith("work_dir") else "work_dir*/"
    return place + re.sub(r"<\w+>|(?<![A-Z])[A-Z](?![A-Za-z])", "*", name)
