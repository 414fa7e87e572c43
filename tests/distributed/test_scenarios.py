from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.distributed import scenarios
from tests.distributed.launches import run, two_nodes
from tests.runs import Points


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("scenarios")


@pytest.fixture(scope="module")
def both(folder) -> tuple[dict[str, Any], dict[str, Any]]:
    """What each of two processes on two nodes saw."""
    ended = run(*two_nodes("-m", "tests.distributed.scenarios", str(folder)))
    assert [status for status, _ in ended] == [0, 0], "\n".join(text for _, text in ended)
    first, second = (json.loads((folder / f"{rank}.json").read_text()) for rank in range(2))
    return first, second


def alone(name: str, folder: Path) -> dict[str, Any]:
    """What one process sees."""
    return json.loads(json.dumps(getattr(scenarios, name)(folder)))


def test_every_sample_is_evaluated_once(both, tmp_path):
    expected = alone("evaluations", tmp_path)
    for name, one in expected.items():
        values, saved = one["values"], one["saved"]
        loss = pytest.approx(values.pop("loss"), abs=1e-6)  # added up in another order
        for found in both:
            assert found["evaluations"][name]["values"] == {**values, "loss": loss}, name
        assert sum(found["evaluations"][name]["saved"] for found in both) == saved, name


def test_evaluation_amid_an_accumulation_leaves_training_alone(both):
    first, second = (found["evaluation_in_a_run"] for found in both)
    assert first == second
    assert {value["seen"] for value in first["values"]} == {5}


def test_losses_that_are_propagated_apart_are_shared_once(both, tmp_path):
    expected = alone("losses_of_two", tmp_path)
    first, second = (found["losses_of_two"] for found in both)
    assert first["weights"] == second["weights"] == pytest.approx(expected["weights"], abs=1e-6)
    assert first["logged"] == pytest.approx(expected["logged"], abs=1e-4)


def test_a_stop_on_one_process_stops_all(both):
    for found in both:
        assert found["stopped_by_one"]["epoch"] == 2
        assert found["stopped_by_one"] == both[0]["stopped_by_one"]


def test_each_epoch_has_an_order_of_its_own_and_each_process_its_share(both):
    epochs = [[[x for e, xs in found["orders"]["map"] if e == epoch for x in xs] for found in both] for epoch in (0, 1)]
    everything = sorted(Points(8)[i]["x"][0].item() for i in range(8))
    assert [sorted([*first, *second]) for first, second in epochs] == [everything, everything]
    assert epochs[0] != epochs[1]


def test_data_without_length_are_dealt_out_in_whole_rounds(both):
    samples = [Points(7)[i]["x"][0].item() for i in range(7)]
    assert [found["orders"]["stream"] for found in both] == [[samples[0:2], samples[4:6]], [samples[2:4], samples[6:7]]]


def test_predictions_are_one_file_in_the_order_of_the_data(both, folder, tmp_path):
    alone("predictions", tmp_path)
    assert (folder / "predictions" / "out.jsonl").read_text() == (tmp_path / "out.jsonl").read_text()
    assert [found["predictions"]["count"] for found in both] == [21, 0]


def test_the_processes_know_each_other(both):
    first, second = (found["surroundings"] for found in both)
    assert (first["rank"], second["rank"], first["main"], second["main"]) == (0, 1, True, False)
    assert first["timestamp"] == second["timestamp"]
    assert first["distributed"] is second["distributed"] is True
    assert first["size"] == second["size"] == first["group"] == second["group"] == 2


def test_what_they_tell_each_other(both):
    first, second = (found["talk"] for found in both)
    assert first["broadcast"] == second["broadcast"] == "of 0"
    assert first["gather"] == second["gather"] == [0, 1]
    assert (first["gather_to_main"], second["gather_to_main"]) == ([0, 1], [])
    assert first["any"] == second["any"] == [False, True, True]
    assert first["ask"] == second["ask"] == [0, 3, 4]  # an answer is there at the next question, or at once


def test_a_process_that_lacks_batches_gets_copies(both):
    first, second = (found["uneven_batches"] for found in both)
    assert first == {"more": [1, 2, 3], "none": ["copy of 5", "copy of 5"], "neither": [], "even": [7]}
    assert second == {"more": [4, "copy of 4", "copy of 4"], "none": [5, 6], "neither": [], "even": [8]}


def test_the_best_weights_are_restored_on_all(both):
    for found in both:
        epochs, end = found["best_restored"]["epochs"], found["best_restored"]["end"]
        assert end == epochs[1] != epochs[2]
    assert both[0]["best_restored"] == both[1]["best_restored"]
