from __future__ import annotations

import json
from typing import Any

import pytest

from tests.distributed.launches import run, torchrun
from tests.distributed.matrix import ACCUMULATE, EPOCHS, ROWS, SAMPLES, STOP_AT, play

KEYS = [f"{name}-{accumulate}" for name in ROWS for accumulate in ACCUMULATE]


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> dict[int, dict[str, Any]]:
    """One process, by accumulation."""
    folder = tmp_path_factory.mktemp("alone")
    return {accumulate: play(folder / str(accumulate), {}, accumulate, 1) for accumulate in ACCUMULATE}


@pytest.fixture(scope="module")
def together(tmp_path_factory) -> list[dict[str, Any]]:
    """Two processes: what each found, by row and accumulation."""
    folder = tmp_path_factory.mktemp("together")
    ((status, text),) = run(torchrun("-m", "tests.distributed.matrix", str(folder)))
    assert status == 0, text
    assert len(list((folder / KEYS[0] / "even").glob("*.log"))) == 1  # the main process's
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


@pytest.fixture(params=KEYS)
def case(request, alone, together) -> tuple[dict[str, Any], dict[str, Any]]:
    """What two processes came to in a case, and what one did; an error is shown here."""
    found = [results[request.param] for results in together]
    assert [result.get("error") for result in found] == [None, None], found
    assert found[0] == found[1]
    return found[0], alone[int(request.param.rpartition("-")[2])]


def test_losses_and_weights_are_those_of_one_process(case):
    found, expected = case
    assert len(found["losses"]) == EPOCHS * SAMPLES // 4
    assert found["losses"] == pytest.approx(expected["losses"], abs=1e-5)
    assert found["evaluated"] == pytest.approx(expected["evaluated"], abs=1e-5)
    for name, values in expected["weights"].items():
        assert found["weights"][name] == pytest.approx(values, abs=1e-5), name


def test_a_resumed_run_is_the_run_that_never_stopped(case):
    found, _ = case
    assert len(found["resumed"]) == EPOCHS * SAMPLES // 4 - STOP_AT
    assert found["resumed"] == found["whole"]
    assert found["resumed_weights"] == found["whole_weights"]
