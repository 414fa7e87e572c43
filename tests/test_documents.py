"""What README and migration guide show has to work."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

from adapter.cli.main import main
from tests.conftest import ROOT, Adapter

README = (ROOT / "README.md").read_text()
GUIDE = sorted((ROOT / "migration_guide").glob("*.md"))
FILES = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
BASH = re.compile(r"```bash\n(.*?)```", re.DOTALL)
DOCUMENTS = [ROOT / "README.md", ROOT / "tests" / "benchmarks" / "README.md", *GUIDE]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The folder that the README's example describes, with data to run it on."""
    for name, text in FILES.findall(README):
        (tmp_path / name).write_text(text)
    header = ",".join([*(f"x{i}" for i in range(8)), "labels"])
    rows = [",".join([*(str((i * j) % 5 / 5) for j in range(8)), str(i % 4)]) for i in range(12)]
    for name in ("train.csv", "val.csv"):
        (tmp_path / name).write_text("\n".join([header, *rows]))
    return tmp_path


@pytest.mark.parametrize("command", ["fit", "explain"])
def test_the_example_of_the_readme_runs(command: str, example: Path, adapter: Adapter) -> None:
    words = next(
        line.split()[1:] for line in README.splitlines() if line.startswith(f"adapter {command} configuration")
    )
    done = adapter(*words)
    assert done.returncode == 0, done.stderr
    assert "would refuse" not in done.stdout
    if command == "fit":
        log = next(example.glob("work_dir/*.log.json")).read_text().splitlines()
        assert [json.loads(line)["mode"] for line in log].count("eval") == 3
        assert (example / "work_dir" / "output" / "pytorch_model.bin").exists()


@pytest.mark.filterwarnings(r"ignore:(?s)\s.*was deprecated in v4")  # jsonargparse, of how LightningCLI calls it
def test_the_commands_of_the_way_to_lightning_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, in this process, where the configs are."""
    text = (ROOT / "migration_guide" / "to_lightning.md").read_text()
    commands = [line.split() for block in BASH.findall(text) for line in block.splitlines()]
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    for name, content in FILES.findall(text):
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    for name in ("PL_GLOBAL_SEED", "PL_SEED_WORKERS"):  # LightningCLI sets them
        monkeypatch.setenv(name, "0")
    for program, *words in commands:
        monkeypatch.setattr(sys, "argv", words)
        try:
            done = runpy.run_path(words[0]) if program == "python" else main(words)
        except SystemExit as end:  # of LightningCLI, once it has printed a config
            done = end.code
        assert not isinstance(done, int) or done == 0, words
    assert len(commands) == 6
    assert (tmp_path / "work_dir" / "quickstart" / "epoch_3.pth").exists()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)", path.read_text()) if "://" not in link]
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_example_of_each_command_names_files_that_exist() -> None:
    named = re.findall(r"configs/\S+\.yaml", " ".join(path.read_text() for path in (ROOT / "adapter/cli").glob("*.py")))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
