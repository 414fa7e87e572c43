"""A disk that is full or cannot be written to: one sentence, and the earlier files stay whole."""

from __future__ import annotations

import contextlib
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapter.aside import WriteError, write_text, written_aside
from adapter.checkpoint import files
from adapter.cli.main import main
from tests.cli.conftest import config, write  # noqa: F401  a fixture

WEIGHTS, STATE = 96_000, 192_000  # bytes of a model of 3000 hidden values, and of AdamW's two tensors for each weight


@contextlib.contextmanager
def small_files(folder: Path) -> Iterator[None]:
    """The system refuses files in which a trainer state has no place."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (WEIGHTS + STATE // 2, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def fill(folder: Path, left: int = 0) -> None:
    """Fill the disk but for some bytes."""
    with (folder / "filler").open("wb", buffering=0) as file:
        with contextlib.suppress(OSError):
            while file.write(bytes(4096)):
                pass
        file.truncate(file.tell() - left)


@contextlib.contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """The rest of the disk has place for the weights only."""
    fill(folder, WEIGHTS + STATE // 2)
    yield


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if done.returncode != 0:
        pytest.skip(f"a file system can be mounted by root only, or not at all: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=False)


def run_out_of_space(folder: Path, tmp_path: Path, limit: object, capsys: pytest.CaptureFixture[str]) -> str:
    """Train an epoch, go on with little space, look at what is there; the last line on the console."""
    settings = {"model.hidden": [3000], "train.optimizer": {"type": "AdamW", "lr": 0.01}}
    path = write(tmp_path, settings)
    words = ["fit", str(path), "--work-dir", str(folder / "run")]
    assert main([*words, "train.max_epochs=1"]) == 0
    capsys.readouterr()
    with limit(folder):
        assert main([*words, "--resume"]) == 1
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert files.newest_pair(folder / "run") == folder / "run" / "epoch_1.pth"
    assert not list((folder / "run").rglob(".*.part"))
    for checkpoint in (folder / "run").rglob("*.pth"):
        files.load(checkpoint)
    return error.splitlines()[-1]


def test_files_that_may_not_grow(config, tmp_path, capsys):  # noqa: F811
    said = run_out_of_space(tmp_path, tmp_path, small_files, capsys)
    assert said == f"cannot write '{tmp_path}/run/epoch_2_trainer_state.pth': File too large"


def test_a_full_disk(disk, config, tmp_path, capsys):  # noqa: F811
    said = run_out_of_space(disk, tmp_path, full_disk, capsys)
    assert said == f"cannot write '{disk}/run/epoch_2_trainer_state.pth': No space left on device"


def test_a_disk_that_is_full_from_the_start(disk, config, tmp_path, capsys):  # noqa: F811
    (disk / "run").mkdir()
    fill(disk)
    assert main(["fit", str(config), "--work-dir", str(disk / "run")]) == 1
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert error.splitlines()[-1].startswith(f"cannot write '{disk}/run/")
    assert error.splitlines()[-1].endswith(".log': No space left on device")


def test_a_disk_that_can_only_be_read(disk, config, capsys):  # noqa: F811
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    assert main(["fit", str(config), "--work-dir", str(disk / "run")]) == 2
    assert f"train.work_dir: '{disk}/run' cannot be used: '{disk}' cannot be written to" in capsys.readouterr().err


def test_a_place_for_no_files(config, capsys):  # noqa: F811
    """The rights are there, as far as one can tell, and a folder cannot be made all the same."""
    assert main(["fit", str(config), "--work-dir", "/proc/none"]) == 1
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert error.splitlines()[-1].startswith("cannot write '/proc/none/")


def test_the_file_is_named(tmp_path):
    (tmp_path / "a").write_text("no folder")
    with pytest.raises(WriteError, match=f"cannot write '{tmp_path}/a/b': (File exists|Not a directory)"):
        write_text("text", tmp_path / "a" / "b")


def test_what_is_read_for_it_is_another_matter(tmp_path):
    with pytest.raises(FileNotFoundError, match="/nowhere/data"), written_aside(tmp_path / "a"):
        Path("/nowhere/data").read_text()
