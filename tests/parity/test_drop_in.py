"""The recorded cases, played through ModelScope's names as the adapter serves them: nothing may differ from its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapter import Hook, build_trainer
from tests.modelscope_names.test_scripts import python
from tests.parity.golden.cases import CASES
from tests.parity.play import play

pytestmark = pytest.mark.usefixtures("one_thread")
PLAY = Path(__file__).with_name("play.py")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("served") / "seen.json"
    done = python("-m", "adapter", "run", str(PLAY), "real", str(out))
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(out.read_text())


@pytest.mark.parametrize("name", CASES)
def test_same_to_the_last_bit(name: str, served: dict[str, Any]) -> None:
    own = json.loads(json.dumps(play(name, build_trainer, Hook)))
    assert json.dumps(served[name], sort_keys=True) == json.dumps(own, sort_keys=True)
