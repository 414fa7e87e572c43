"""Replays what ModelScope's trainer was recorded to do with each feature, and lists where ours does otherwise."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adapter import HOOKS, Hook, build_trainer
from tests.parity.golden.cases import StreamData, TinyNet
from tests.parity.play import make_probe, read_work_dir
from tests.parity.recorded_cases import CASES, ELSEWHERE
from tests.parity.recorded_model import Samples, StepItHook, Variant
from tests.parity.test_golden import ONLY_OURS

pytestmark = pytest.mark.usefixtures("one_thread")

RECORDED = Path(__file__).parent / "recorded"
TOLERANCE = 1e-5  # of what is computed from data: between machines the last digits differ


@dataclass(frozen=True)
class Difference:
    """One field of a recording that ours is not meant to repeat.

    Attributes:
        field: Name of the field.
        why: The reason.
        ours: From the recorded value to ours.
    """

    field: str
    why: str
    ours: Callable[[Any], Any]


def without_states(prefix: str) -> Callable[[list[str]], list[str]]:
    """Drop the trainer state files of one kind of checkpoint."""
    return lambda files: [f for f in files if not (f.startswith(prefix) and f.endswith("_trainer_state.pth"))]


def without_the_average_at_iteration_15(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The fifth line from the end without the loss, which is averaged there for an end of an epoch that is none."""
    changed = copy.deepcopy(rows)
    del changed[-5]["loss"]
    return changed


def at_the_end_of(epochs: int) -> Callable[[list[list[Any]]], list[list[Any]]]:
    """The last event with the counters of a run that has ended."""
    return lambda events: [*events[:-1], ["after_run", epochs, 10 * epochs, 0]]


def with_type(config: dict[str, Any]) -> dict[str, Any]:
    """The config with the type of the plateau hook still in it."""
    hook = {"type": "PlateauLrSchedulerHook", **config["train"]["lr_scheduler_hook"]}
    return {**config, "train": {**config["train"], "lr_scheduler_hook": hook}}


def early_stop_after_board(order: list[str]) -> list[str]:
    """Two neighbours the other way round."""
    place = order.index("EarlyStopHook")
    return [*order[:place], "TensorboardHook", "EarlyStopHook", *order[place + 2 :]]


NO_STATE = "save_trainer_state false is taken at its word: no trainer state file at all"
RESTORE = "restoring the best checkpoint loads its weights; it does not turn the finished run's counters back"
TYPE_STAYS = "reading the hook's type does not remove it from the config"

DIFFERENCES: dict[str, list[Difference]] = {
    "eval_step3_log3_keep_last": [
        Difference(
            "log_json",
            "the end of an epoch is that of the training data; the real trainer takes the evaluation data's "
            "number of batches right after an evaluation",
            without_the_average_at_iteration_15,
        )
    ],
    "ck_no_trainer_state": [
        Difference("files", NO_STATE, without_states("epoch_")),
        Difference("checkpoint", NO_STATE, lambda recorded: {}),
    ],
    "best_f1_no_state": [Difference("files", NO_STATE, without_states("best_"))],
    "best_restore": [Difference("events", RESTORE, at_the_end_of(6))],
    "best_restore_keep_1": [Difference("events", RESTORE, at_the_end_of(6))],
    "best_restore_min": [Difference("events", RESTORE, at_the_end_of(4))],
    "best_restore_no_state": [
        Difference("events", RESTORE, at_the_end_of(6)),
        Difference("files", NO_STATE, without_states("best_")),
    ],
    "combo_everything": [
        Difference(
            "hook_order",
            "equal priorities run in order of registration, as documented; the real trainer's newest runs first",
            early_stop_after_board,
        )
    ],
    **{
        name: [Difference("config", TYPE_STAYS, with_type)]
        for name, case in CASES.items()
        if case["cfg"]["train"].get("lr_scheduler_hook", {}).get("type") == "PlateauLrSchedulerHook"
    },
}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    HOOKS.register_module(module_name="StepItHook", module_cls=StepItHook)
    yield
    HOOKS.modules["default"].pop("StepItHook")


def replay(name: str, folder: Path) -> dict[str, Any]:
    """What our trainer does with a case, in the fields of a recording."""
    work_dir, elsewhere, file = folder / "work", folder / "elsewhere", folder / "configuration.json"
    file.write_text(json.dumps(CASES[name]["cfg"]).replace(ELSEWHERE, str(elsewhere)))
    options = dict(CASES[name]["run"])
    kind, dropout = options.pop("model", None), options.pop("dropout", 0.0)
    data = StreamData if options.pop("stream", False) else Samples
    sizes = options.pop("data", [[38], [18]])
    model = Variant(kind) if kind else TinyNet(dropout)
    probe, seen = make_probe(Hook)
    trainer = build_trainer(
        "trainer",
        {
            "cfg_file": str(file),
            "model": model,
            "train_dataset": data(*sizes[0]),
            "eval_dataset": data(*sizes[1]),
            "device": "cpu",
            "seed": 42,
            "work_dir": str(work_dir),
            "callbacks": [probe],
            **options,
        },
    )
    trainer.train()
    config = json.dumps(trainer.cfg.to_dict()).replace(str(work_dir), "<work_dir>")
    found = read_work_dir(work_dir)
    boards = {path: [board_file(file) for file in files] for path, files in found["folders"].items()}
    return {
        "losses": [step["loss"] for step in seen["steps"]],
        "rates": [step["lr"] for step in seen["steps"]],
        "events": [event for event in seen["events"] if event[0] not in ONLY_OURS],
        "weights": {key: value.double().flatten().tolist() for key, value in model.state_dict().items()},
        "metric_values": trainer.metric_values,
        "hook_order": [type(hook).__name__ for hook in trainer.hooks],
        "config": json.loads(config.replace(str(elsewhere), ELSEWHERE)),
        "folders": boards,
        **{field: found[field] for field in ("log_json", "files", "checkpoint")},
    }


def board_file(name: str) -> str:
    """TensorBoard names its files after time, host and process."""
    return "events.out.tfevents" if name.startswith("events.out.tfevents.") else name


def equal(ours: Any, recorded: Any, tolerance: float = TOLERANCE) -> bool:
    """Whether two values are the same, floats within a tolerance; rates, which are formulas, have to be closer."""
    if isinstance(recorded, dict) and isinstance(ours, dict):
        return ours.keys() == recorded.keys() and all(
            equal(ours[key], recorded[key], 1e-9 if key in ("lr", "rates") else tolerance) for key in recorded
        )
    if isinstance(recorded, list) and isinstance(ours, list):
        return len(ours) == len(recorded) and all(
            equal(one, other, tolerance) for one, other in zip(ours, recorded, strict=True)
        )
    if isinstance(recorded, float) and isinstance(ours, float):
        both_nan = math.isnan(recorded) and math.isnan(ours)
        return both_nan or math.isclose(ours, recorded, rel_tol=tolerance, abs_tol=min(tolerance, 1e-6))
    return type(ours) is type(recorded) and ours == recorded


def recording(name: str) -> dict[str, Any]:
    """What the real trainer did with a case."""
    return json.loads((RECORDED / f"{name}.json").read_text())


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step..` before")  # none_optimizer_hook_alone
@pytest.mark.filterwarnings("ignore:This DataLoader will create 2 worker")  # on a machine of one core
@pytest.mark.parametrize("name", list(CASES))
def test_does_what_was_recorded(name: str, tmp_path: Path) -> None:
    """Nothing differs but what is listed, and that differs as the list says."""
    want = recording(name)
    for difference in DIFFERENCES.get(name, []):
        recorded = want[difference.field]
        want[difference.field] = difference.ours(recorded)
        assert not equal(want[difference.field], recorded), f"nothing differs: {difference.why}"
    got = replay(name, tmp_path)
    wrong = {field: (got[field], want[field]) for field in want if not equal({field: got[field]}, {field: want[field]})}
    assert not wrong, f"(ours, expected): {wrong}"


def test_every_recording_has_its_case() -> None:
    assert {path.stem for path in RECORDED.glob("*.json")} == set(CASES)
    assert set(DIFFERENCES) <= set(CASES)


@pytest.mark.parametrize(
    ("ours", "recorded"),
    [
        ({"lr": 0.10001}, {"lr": 0.1}),
        ({"rates": [1e-7]}, {"rates": [2e-7]}),
        ([1.0001], [1.0]),
        ([float("nan")], [1.0]),
        ([1, 2], [1, 2, 3]),
        ({"a": 1}, {"b": 1}),
        (True, 1),
        (1, 1.0),
        (None, {}),
    ],
)
def test_the_comparison_can_tell_apart(ours: Any, recorded: Any) -> None:
    assert not equal(ours, recorded)
    assert equal(ours, ours)
    assert equal(recorded, recorded)
