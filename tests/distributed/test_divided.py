"""Models that are divided among two processes, by FSDP2 and by tensor parallelism, against one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from adapter import ConfigError
from tests.distributed.divided import AMID, BATCHES, EPOCHS, SAMPLES, Net, Renamed, make, play
from tests.distributed.launches import run, torchrun

KINDS = ("fsdp", "tensor")
SAME = [f"{kind}{variant}" for kind in KINDS for variant in ("", "_compiled")] + ["fsdp_options", "tensor_method"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("divided")


@pytest.fixture(scope="module")
def single(folder) -> dict[str, Any]:
    """One process, whole."""
    return play(folder / "single", "single")


@pytest.fixture(scope="module")
def found(folder, single) -> dict[str, Any]:
    """What two processes came to, by name of the run."""
    ((status, text),) = run(torchrun("-m", "tests.distributed.divided", str(folder)))
    assert status == 0, text
    return torch.load(folder / "found.pt", weights_only=False)


def near(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor], limit: float) -> bool:
    """Whether weights of the same names, in the same order, differ by no more than ``limit``."""
    return list(one) == list(other) and all((one[name] - other[name]).abs().max() <= limit for name in one)


@pytest.mark.parametrize("name", SAME)
def test_a_divided_run_is_that_of_one_process(found, single, name):
    assert len(single["losses"]) == EPOCHS * BATCHES
    assert found[name]["losses"] == pytest.approx(single["losses"], abs=1e-5)
    assert near(found[name]["weights"], single["weights"], 1e-5)
    assert found[name]["values"] == single["values"]
    assert found[name]["evaluated_after"] == single["evaluated_after"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_resumed_amid_an_accumulation_is_exact(found, kind):
    whole, resumed = found[kind], found[f"{kind}_resumed"]
    assert resumed["losses"] == whole["losses"][AMID:]
    assert near(resumed["weights"], whole["weights"], 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_of_one_process_goes_on_divided(found, single, kind):
    resumed = found[f"{kind}_from_single"]
    assert resumed["losses"] == pytest.approx(single["losses"][AMID:], abs=1e-5)
    assert near(resumed["weights"], single["weights"], 1e-5)


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
@pytest.mark.parametrize("kind", KINDS)
def test_a_divided_run_goes_on_in_one_process(found, folder, single, tmp_path, kind):
    resumed = play(tmp_path, "single", folder / kind / f"iter_{AMID}.pth")
    assert resumed["losses"] == pytest.approx(single["losses"][AMID:], abs=1e-5)
    assert near(resumed["weights"], single["weights"], 1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_whole_weights_are_in_the_files(found, folder, single, kind):
    for path in (folder / kind / f"iter_{EPOCHS * BATCHES}.pth", folder / kind / "output" / "pytorch_model.bin"):
        weights = torch.load(path, weights_only=True)
        assert near(weights, single["weights"], 1e-5)
        Net().load_state_dict(weights)


def test_shards_lie_beside_the_pairs_and_go_with_them(found):
    pairs = [name.removesuffix("_trainer_state.pth") for name in found["fsdp_files"] if "_trainer_state" in name]
    assert pairs == ["iter_12", "iter_15", "iter_8"]  # the newest three
    assert sorted(name.partition("_shards_")[0] for name in found["fsdp_files"] if "_shards_" in name) == pairs
    assert not [name for name in found["tensor_files"] if "_shards_" in name]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("precision", "limit"), [("bf16-mixed", 0.05), ("bf16-true", 0.3)])
def test_16_bits_compose(found, single, kind, precision, limit):
    losses = found[f"{kind}_{precision}"]["losses"]
    assert losses == pytest.approx(single["losses"], abs=limit)
    assert losses != pytest.approx(single["losses"], abs=1e-5)


def test_processes_that_share_layers_see_the_same_data_and_others_their_share(found):
    facts = found["facts"]
    assert facts["groups"] == [1, 2, 1]
    assert facts["order"][0] == facts["order"][1]
    assert sorted(facts["order"][0]) == list(range(SAMPLES))
    assert facts["sharded_groups"] == [2, 1]
    assert sorted(facts["sharded_order"][0] + facts["sharded_order"][1]) == list(range(SAMPLES))


def test_layers_and_data_are_shared_at_once(single, tmp_path):
    ((status, text),) = run(torchrun("-m", "tests.distributed.divided", str(tmp_path), processes=4))
    assert status == 0, text
    found = torch.load(tmp_path / "found.pt", weights_only=False)
    whole, resumed = found["two_by_two"], found["resumed"]
    assert whole["losses"] == pytest.approx(single["losses"], abs=1e-5)
    assert near(whole["weights"], single["weights"], 1e-5)
    assert resumed["losses"] == whole["losses"][AMID:]
    assert near(resumed["weights"], whole["weights"], 0)


@pytest.mark.parametrize("kind", ["fsdp", "tensor"])
def test_a_checkpoint_of_another_model_is_refused_before_anything_is_written(found, kind):
    refused = found[f"{kind}_refusals"]
    assert f"iter_{AMID}.pth' holds the weights of another model" in refused["another"]["said"]
    assert "head.weight has the shape (3, 4), not (4, 4)" in refused["a size"]["said"]
    assert [each["files"] for each in refused.values()] == [[], []]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (lambda: torch.nn.Sequential(Net()), rf"iter_{AMID}.pth' holds the weights of another model"),
        (Renamed, r"shards are of another model: this one has no parameter for 'blocks\.\d\."),
    ],
    ids=["no name in common", "some names in common"],
)
def test_a_divided_run_of_another_model_is_refused_by_name(model, said, found, folder, tmp_path):
    trainer = make(tmp_path, "single", model=model())
    with pytest.raises((ConfigError, ValueError), match=said):
        trainer.train(str(folder / "fsdp" / f"iter_{AMID}.pth"))
