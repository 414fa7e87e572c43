from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapter import ConfigError
from tests.small_runs import build, losses, settings


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("simple", "training_step"),
        ({"type": "simple", "extended": False}, "Mean duration"),
        ({"type": "advanced", "line_count_restriction": 5}, "cumtime"),
        ({"type": "pytorch", "export_to_chrome": False}, "Self CPU"),
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")  # torch's profiler about its own
def test_a_report_is_written_and_the_numbers_stay(given: Any, said: str, tmp_path: Path) -> None:
    assert losses(tmp_path, settings(train__profiler=given)) == losses(tmp_path / "plain")
    assert said in (tmp_path / "work" / "fit-profile.txt").read_text()


def test_lightning_s_own_argument_writes_the_same_report(tmp_path: Path) -> None:
    build(tmp_path, trainer_args={"profiler": "simple"}).train()
    assert (tmp_path / "work" / "fit-profile.txt").exists()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("simpel", r"train\.profiler: no profiler is called 'simpel'; allowed: simple, .* Did you mean 'simple'"),
        ({"type": "simple", "row_limit": 3}, r"train\.profiler\.row_limit: SimpleProfiler takes no argument"),
        (3, r"train\.profiler: found 3"),
    ],
)
def test_what_cannot_be_is_refused(given: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        build(tmp_path, settings(train__profiler=given))
    assert not (tmp_path / "work").exists()
