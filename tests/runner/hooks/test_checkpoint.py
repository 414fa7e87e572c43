from __future__ import annotations

from pathlib import Path

import pytest

from adapter.runner.trainer import RunTrainer
from tests.runner import tiny


@pytest.mark.parametrize(
    ("save_freq", "epochs", "kept"),
    [(1, 2, ["0", "1", "best"]), (2, 4, ["0", "2", "3", "best"]), (9, 1, ["0", "best"])],
)
def test_saves_the_first_epoch_every_so_many_and_the_last(tmp_path: Path, save_freq: int, epochs: int, kept: list[str]):
    trainer = tiny.fit(tmp_path, save_freq=save_freq, max_epoch=epochs)
    names = sorted(path.stem.removeprefix("checkpoint_") for path in Path(trainer.work_dir).glob("*.pth"))
    assert names == kept


def test_pieces_of_an_older_file_of_the_name_go(tmp_path: Path) -> None:
    for name in ("checkpoint_0", "checkpoint_00"):
        (tmp_path / "here" / f"{name}_shards_1").mkdir(parents=True)
    RunTrainer(tiny.config(tmp_path, max_epoch=1), work_dir=tmp_path / "here").train()
    assert [path.name for path in (tmp_path / "here").glob("*_shards_*")] == ["checkpoint_00_shards_1"]
