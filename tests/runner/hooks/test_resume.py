from __future__ import annotations

from pathlib import Path

import pytest

from adapter import ConfigError
from tests.runner import tiny


def test_the_best_checkpoint_goes_along_with_its_pieces(tmp_path: Path) -> None:
    first = tiny.fit(tmp_path, max_epoch=2)
    shards = Path(first.work_dir, "checkpoint_best_shards_7", "state")
    shards.mkdir(parents=True)
    (shards / "rank_0.pt").write_bytes(b"its part")
    second = tiny.fit(tmp_path, max_epoch=2, resume_ckpt_path=str(Path(first.work_dir, "checkpoint_1.pth")))
    best = [Path(trainer.work_dir, "checkpoint_best.pth") for trainer in (first, second)]
    assert first.work_dir != second.work_dir
    assert best[0].read_bytes() == best[1].read_bytes()
    assert Path(second.work_dir, "checkpoint_best_shards_7", "state", "rank_0.pt").read_bytes() == b"its part"


@pytest.mark.parametrize("evaluate", [False, True])
def test_a_checkpoint_that_is_not_there_is_a_problem_of_the_config(tmp_path: Path, evaluate: bool) -> None:
    with pytest.raises(ConfigError, match=r"config.yaml: 1 problem\n  line 1, run.resume_ckpt_path: no checkpoint at"):
        tiny.fit(tmp_path, resume_ckpt_path="gone.pth", evaluate=evaluate)
    assert not (tmp_path / "out").exists()
    with pytest.raises(FileNotFoundError, match=r"no checkpoint at 'gone.pth'"):
        tiny.fit(tmp_path, resume="gone.pth")
