from __future__ import annotations

import json
from typing import Any

import pytest

from tests.distributed.launches import run, torchrun


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[str, Any]:
    """What came of the runs of tests.distributed.deepspeed_runs, on both processes."""
    folder = tmp_path_factory.mktemp("runs")
    ((status, text),) = run(torchrun("-m", "tests.distributed.deepspeed_runs", str(folder)))
    assert status == 0, text
    first, second = (json.loads((folder / f"{rank}.json").read_text()) for rank in range(2))
    assert {**first, "refused": None} == {**second, "refused": None}  # which names one of several files
    return first


@pytest.mark.parametrize("case", [*(f"stage {n}" for n in range(4)), *(f"bf16, stage {n}" for n in range(1, 4))])
def test_a_run_goes_on_within_an_accumulation(found, case):
    result = found[case]
    assert len(result["resumed"]) == 5
    assert result["resumed"] == result["whole"]
    assert result["same_weights"]
    assert result["formats"] == ["torch.float32"]
    assert result["values"][0] == result["values"][1]


def test_two_losses_are_one_backward_pass(found):
    whole = found["one loss"]
    assert [4 * value for value in found["two losses"]] == pytest.approx(whole, abs=1e-5)


@pytest.mark.parametrize("stage", [2, 3])
def test_an_offloaded_optimizer_takes_the_same_steps(found, stage):
    assert found[f"offloaded, {stage}"] == pytest.approx(found[f"kept, {stage}"], abs=1e-6)  # norms in another order
    assert len(found[f"offloaded, {stage}"]) == 12


def test_activation_checkpointing(found):
    assert len(found["checkpointed"]) == 12
    assert found["checkpointed"][-1] < found["checkpointed"][3]


def test_a_schedule_of_deepspeed_s_is_stepped_once_a_step(found):
    assert found["schedule"] == pytest.approx([0.0] * 5 + [0.005] * 3 + [0.01] * 3 + [0.005])


def test_weights_alone_go_into_another_stage(found):
    assert found["weights only"] is True


def test_what_a_run_cannot_go_on_from(found):
    assert "stage was 2, is 1; go on with the weights only" in found["refused"]["stage"]
    assert "is one process's part of a checkpoint; name the folder" in found["refused"]["inner"]
