"""A script in several processes: the names are served in each, and the run is the direct one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.distributed.launches import run, torchrun
from tests.modelscope_names.test_scripts import SCRIPTS, with_own_names


def seen_by(folder: Path) -> list[dict[str, Any]]:
    """What the two processes wrote down."""
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


def test_same_as_the_direct_run(tmp_path: Path) -> None:
    """Started by `adapter run` and with `import adapter.drop_in`."""
    script = SCRIPTS / "shared.py"
    served, direct, dropped_in = (str(tmp_path / name) for name in ("served", "direct", "dropped_in"))
    (tmp_path / "direct.py").write_text(with_own_names(script.read_text()))
    (tmp_path / "dropped_in.py").write_text(f"import adapter.drop_in\n{script.read_text()}")
    commands = (
        torchrun("-m", "adapter", "run", str(script), served),
        torchrun(str(tmp_path / "direct.py"), direct),
        torchrun(str(tmp_path / "dropped_in.py"), dropped_in),
    )
    for status, text in run(*commands):
        assert status == 0, text
    want = seen_by(tmp_path / "direct")
    assert seen_by(tmp_path / "served") == want
    assert seen_by(tmp_path / "dropped_in") == want
    first, second = want
    assert first["weights"] == second["weights"]
    assert [loss for loss, _ in first["seen"]] != [loss for loss, _ in second["seen"]]
    assert [rate for _, rate in first["seen"]] == [0.1] * 6 + [0.1 * 0.1] * 6
