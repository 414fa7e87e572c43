"""The command line as a whole: help, exit status, and what it loads to answer."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from adapter.cli import main as command_line
from tests.conftest import ROOT

CLI = Path(command_line.__file__).parent
COMMANDS = sorted(path.stem for path in CLI.glob("*.py") if re.search("^EXAMPLE = ", path.read_text(), re.MULTILINE))
# a module that shows up in sys.modules when something heavy was loaded
HEAVY = ("torch", "lightning", "numpy", "datasets", "torchmetrics", "jsonargparse")


def loaded_by(words: list[str], folder: Path) -> tuple[int, list[str]]:
    """Exit status of `adapter WORDS`, and which of the heavy modules it had imported by then."""
    code = (
        "import sys\nfrom adapter.cli.main import main\n"
        f"try: status = main({words!r})\n"
        "except SystemExit as stop: status = stop.code\n"
        f"print(status, *[name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    status, *modules = done.stdout.splitlines()[-1].split()
    return int(status), modules


def test_finds_every_command() -> None:
    assert list(command_line.find_commands()) == COMMANDS
    assert {"explain", "fit", "list", "schema", "validate"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_its_summary_and_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        command_line.main([name, "--help"])
    out = capsys.readouterr().out
    assert stop.value.code == 0
    assert command_line.find_commands()[name].__doc__.splitlines()[0] in out
    assert f"  adapter {name} " in out.partition("example:")[2]


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        command_line.main(["--help"])
    out = capsys.readouterr().out
    assert stop.value.code == 0
    assert all(f"\n  {name} " in out for name in COMMANDS)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("adapter ")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], f"no command given; choose from {', '.join(COMMANDS)}"),
        (["fti"], "unknown command 'fti'; did you mean 'fit'?"),
        (["fit"], "the following arguments are required: CONFIG"),
        (["validate", "c.yaml"], "the following arguments are required: --ckpt"),
        (["fit", "c.yaml", "--sed", "3"], "unrecognized arguments: --sed"),
        (["fit", "c.yaml", "--seed", "x"], "argument --seed: invalid int value: 'x'"),
        (["list", "hok"], "argument KIND: invalid choice: 'hok'"),
    ],
)
def test_wrong_use_is_status_2(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        command_line.main(words)
    assert stop.value.code == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "words", "texts"),
    [
        (None, [], ["no such file"]),
        ("", [], ["config.yaml"]),
        ("train: [1, 2\nmodel: x", [], ["line 2", "model: x"]),
        ("- a\n- b", [], ["config.yaml"]),
        ("train: {max_epochs: three}", [], ["line 1, train.max_epochs", "three", "integer"]),
        ("train: {max_epochs: 3}", ["train.max_epochs=three"], ["train.max_epochs", "three"]),
        ("train: {max_epochs: 3}", ["train.max_epochs"], ["'train.max_epochs' is not an override"]),
        ("train: {max_epochs: 3}", ["--trainer.max_epochs"], ["--trainer.max_epochs: has no value"]),
        ("train: {max_epochs: 3}", ["--import", "absent.py"], ["cannot import 'absent.py'"]),
    ],
)
def test_config_error_is_text_and_status_2(
    content: str | None,
    words: list[str],
    texts: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = tmp_path / "config.yaml"
    if content is not None:
        config.write_text(content)
    before = sorted(tmp_path.iterdir())
    assert command_line.main(["fit", str(config), *words]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "Traceback" not in err
    assert all(text in err for text in texts), err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["fit", "--help"], 0),
        (["list"], 0),
        (["list", "hook"], 0),
        (["list", "optimizer"], 0),
        (["fit", "absent.yaml"], 2),
        (["fit", "empty.yaml"], 2),
        (["fit", "wrong.yaml"], 2),
        (["explain", "wrong.yaml"], 2),
    ],
)
def test_answers_without_loading_torch(words: list[str], status: int, tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "wrong.yaml").write_text("train:\n  max_epochs: three\n")
    assert loaded_by(words, tmp_path) == (status, [])


FAILING = """
EXAMPLE = "  adapter failing"
def add_arguments(parser): pass
def run(args):
    raise {error}
"""


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose Python files are commands, too."""
    monkeypatch.setattr(command_line.cli, "__path__", [*command_line.cli.__path__, str(tmp_path)])
    yield tmp_path
    sys.modules.pop("adapter.cli.failing", None)


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        ("RuntimeError('out of paper')", 1, "RuntimeError: out of paper\n  raised at "),
        ("KeyboardInterrupt", 130, "interrupted\n"),
    ],
)
def test_a_failure_is_short(
    error: str, status: int, text: str, failing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (failing / "failing.py").write_text(FAILING.format(error=error))
    assert command_line.main(["failing"]) == status
    err = capsys.readouterr().err
    assert err.startswith(text)
    assert "Traceback" not in err


def test_debug_shows_the_traceback(failing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (failing / "failing.py").write_text(FAILING.format(error="RuntimeError('out of paper')"))
    assert command_line.main(["failing", "--debug"]) == 1
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "RuntimeError: out of paper" in err


def test_nobody_reads_to_the_end(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m adapter list metric | head -1",
        shell=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "closed"),
    [
        ("list hook", ">&-"),
        ("explain config.json", "2>&-"),
        ("explain config.json", "<&- >&- 2>&-"),
        ("fit config.json --work-dir run", "2>&-"),
        ("fit config.json --work-dir run", "<&- >&- 2>&-"),
    ],
)
def test_streams_that_were_closed_are_not_missed(words: str, closed: str, config: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m adapter {words} {closed}",
        shell=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "run" / "epoch_2.pth").is_file() is words.startswith("fit")
