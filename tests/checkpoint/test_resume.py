"""Going on from any checkpoint of a run equals never having stopped, bit for bit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import RandomSampler

from adapter import EpochBasedTrainer, Hook, build_trainer
from adapter.checkpoint import files
from adapter.seeding import random_state
from tests.parity.golden import cases

TEXT, TIMER = {"type": "TextLoggerHook", "interval": 3}, {"type": "IterTimerHook"}
BY_STEP = cases.base(
    epochs=3,
    train={
        "hooks": [
            {"type": "CheckpointHook", "interval": 1, "by_epoch": False},
            {"type": "EvaluationHook", "by_epoch": False, "interval": 4},
            {"type": "BestCkptSaverHook", "metric_key": "accuracy"},
            {"type": "EarlyStopHook", "metric_key": "accuracy", "by_epoch": False, "interval": 4, "patience": 6},
            TEXT,
        ],
        "optimizer": {
            "type": "AdamW",
            "lr": 0.01,
            "options": {"cumulative_iters": 4, "grad_clip": {"max_norm": 0.5}},
        },
        "lr_scheduler": {
            "type": "CosineAnnealingLR",
            "T_max": 30,
            "options": {"by_epoch": False, "warmup": {"type": "LinearWarmup", "warmup_iters": 7}},
        },
    },
)
BY_EPOCH = cases.base(
    epochs=4,
    train={
        "hooks": [
            {"type": "CheckpointHook", "interval": 1},
            {"type": "EvaluationHook", "interval": 2},
            {"type": "EarlyStopHook", "metric_key": "accuracy", "patience": 2},
            TEXT,
        ],
        "lr_scheduler": {"type": "ReduceLROnPlateau", "mode": "max", "factor": 0.1, "patience": 0},
        "lr_scheduler_hook": {"type": "PlateauLrSchedulerHook", "metric_key": "accuracy"},
    },
)
EVERY_THIRD = [{"type": "CheckpointHook", "interval": 3, "by_epoch": False}, TEXT, TIMER]
WORKERS = cases.base(epochs=2, train={"dataloader": cases.loader(4, 2), "hooks": EVERY_THIRD})
STREAM = cases.base(epochs=2, train={"hooks": EVERY_THIRD})
WITH_SAMPLER = cases.base(epochs=2, train={"hooks": EVERY_THIRD})
RUNS = {  # name -> config, keywords of a run
    "accumulation, warmup by step, best, early stop": (BY_STEP, {}),
    "plateau with a stale metric, early stop by epoch": (BY_EPOCH, {}),
    "two workers": (WORKERS, {}),
    "a sampler with a generator": (WITH_SAMPLER, {"own_sampler": True}),
    "a sampler with a generator, two workers": (WORKERS, {"own_sampler": True}),
    "iterable": (STREAM, {"stream": True, "train_iters_per_epoch": 6, "val_iters_per_epoch": 3}),
}


class Steps(Hook):
    """Notes place, loss and rate of each iteration."""

    PRIORITY = "LOWEST"

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []

    def after_train_iter(self, trainer):
        loss = trainer.log_buffer.val_history["loss"][-1]
        self.rows.append(
            (trainer.epoch, trainer.iter, trainer.inner_iter, loss, trainer.optimizer.param_groups[0]["lr"])
        )


def play(
    config: Any,
    folder: Path,
    checkpoint: str | None = None,
    stream: bool = False,
    own_sampler: bool = False,
    **keywords: Any,
):
    """Rows, weights and log lines (less the times) of a run, from a checkpoint or from the start."""
    data = cases.StreamData if stream else cases.MapData
    if own_sampler:
        drawn = RandomSampler(range(38), replacement=True, generator=torch.Generator().manual_seed(5))
        keywords["samplers"] = {"train": drawn}
    steps = Steps()
    trainer = build_trainer(
        "trainer",
        {
            "cfg_file": config,
            "model": cases.TinyNet(dropout=0.3),
            "train_dataset": data(38),
            "eval_dataset": data(18),
            "device": "cpu",
            "work_dir": str(folder),
            "callbacks": [steps],
            **keywords,
        },
    )
    trainer.train(checkpoint)
    logs = Path(folder).glob("*.log.json")  # none when nothing was left to do
    lines = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    shown = [{key: value for key, value in line.items() if "time" not in key} for line in lines]
    return steps.rows, trainer.model.state_dict(), shown


@pytest.mark.parametrize("name", RUNS)
def test_every_checkpoint_goes_on_as_if_never_stopped(name: str, tmp_path: Path) -> None:
    config, keywords = RUNS[name]
    rows, weights, lines = play(config, tmp_path / "whole", **keywords)
    found = sorted((tmp_path / "whole").glob("*_trainer_state.pth"))
    states = [state for state in found if not state.name.startswith("best")]
    assert len(states) >= 4
    for state in states[:: max(len(states) // 8, 1)]:
        done = torch.load(state, weights_only=True)["meta"]["iter"]
        again, same_weights, same_lines = play(config, tmp_path / state.stem, str(state), **keywords)
        assert again == rows[done:], state.name
        assert same_lines == lines[len(lines) - len(same_lines) :], state.name
        assert all(torch.equal(weights[key], same_weights[key]) for key in weights), state.name


def simple(folder: Path, epochs: int = 2, **train: Any) -> EpochBasedTrainer:
    """A trainer without evaluation that saves after each epoch of ten iterations."""
    config = cases.base(epochs=epochs, train={"hooks": [{"type": "CheckpointHook", "interval": 1}, TEXT], **train})
    return build_trainer(
        "trainer",
        {
            "cfg_file": config,
            "model": cases.TinyNet(),
            "train_dataset": cases.MapData(38),
            "eval_dataset": cases.MapData(18),
            "device": "cpu",
            "work_dir": str(folder),
        },
    )


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    simple(folder).train()
    return folder


@pytest.mark.parametrize("name", ["epoch_1", "epoch_1.pth", "epoch_1_trainer_state.pth"])
def test_a_pair_is_named_by_either_file_or_its_prefix(name: str, saved: Path, tmp_path: Path) -> None:
    trainer = simple(tmp_path)
    trainer.train(str(saved / name))
    assert (trainer.epoch, trainer.iter) == (2, 20)
    want, got = (torch.load(folder / "epoch_2.pth", weights_only=True) for folder in (saved, tmp_path))
    assert all(torch.equal(want[key], got[key]) for key in want)


def test_a_finished_run_ends_at_once_and_more_epochs_go_on(saved: Path, tmp_path: Path) -> None:
    trainer = simple(tmp_path)
    trainer.train(str(saved / "epoch_2"))
    assert (trainer.epoch, trainer.iter) == (2, 20)
    assert not list(tmp_path.glob("epoch_*"))
    longer = simple(tmp_path / "longer", epochs=3)
    longer.train(str(saved / "epoch_2"))
    assert sorted(path.name for path in (tmp_path / "longer").glob("epoch_?.pth")) == ["epoch_3.pth"]


def test_weights_only_starts_from_the_first_epoch(saved: Path, tmp_path: Path) -> None:
    trainer = simple(tmp_path, epochs=1)
    trainer.train(str(saved / "epoch_2"), load_all_state=False)
    assert (trainer.epoch, trainer.iter) == (1, 10)


def test_a_second_train_does_not_load_again(saved: Path, tmp_path: Path) -> None:
    trainer = simple(tmp_path)
    trainer.train(str(saved / "epoch_1"))
    trainer.train()
    assert (trainer.epoch, trainer.iter) == (2, 20)


def test_the_first_run_is_left_untouched(saved: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in saved.rglob("*")}
    simple(tmp_path).train(str(saved / "epoch_1"))
    assert {path: path.stat().st_mtime_ns for path in saved.rglob("*")} == before


@pytest.mark.parametrize("copied", [False, True])
def test_a_folder_that_was_moved_or_copied_goes_on_in_its_new_place(copied: bool, tmp_path: Path) -> None:
    """Retention and the best pair count what is there, whatever the folder is called now."""
    saver = {"type": "CheckpointHook", "interval": 1, "max_checkpoint_num": 2}
    best = {"type": "BestCkptSaverHook", "metric_key": "accuracy", "restore_best": True}
    hooks = [saver, best, {"type": "EvaluationHook"}]
    simple(tmp_path / "whole", epochs=4, hooks=hooks).train()
    simple(tmp_path / "old", epochs=2, hooks=hooks).train()
    if copied:
        shutil.copytree(tmp_path / "old", tmp_path / "new", copy_function=shutil.copyfile)  # the times are new, too
    else:
        (tmp_path / "old").rename(tmp_path / "new")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "old").rglob("*")}
    trainer = simple(tmp_path / "new", epochs=4, hooks=hooks)
    trainer.train(str(files.newest_pair(tmp_path / "new")))
    names = [{path.name for path in (tmp_path / name).rglob("*.[pb]*")} for name in ("whole", "new")]
    assert names[0] == names[1]
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "old").rglob("*")} == before
    for name in names[0]:
        if name.endswith(".pth") and "trainer_state" not in name:
            one, other = (files.load(tmp_path / folder / name) for folder in ("whole", "new"))
            assert all(torch.equal(one[key], other[key]) for key in one), name


def test_a_run_that_was_stopped_stays_stopped(tmp_path: Path) -> None:
    stop = {"type": "EarlyStopHook", "metric_key": "accuracy", "patience": 1}
    hooks = [{"type": "CheckpointHook", "interval": 1}, {"type": "EvaluationHook"}, stop]
    change = {"hooks": hooks, "optimizer": {"type": "SGD", "lr": 0.0}}
    first = simple(tmp_path / "first", epochs=6, **change)
    first.train()
    assert first.epoch == 2
    second = simple(tmp_path / "second", epochs=6, **change)
    second.train(str(tmp_path / "first" / "epoch_2"))
    assert second.epoch == 2


def older(saved: Path, folder: Path, **meta: Any) -> str:
    """The pair of epoch 1 with the meta data that ModelScope's trainer would have written."""
    state = torch.load(saved / "epoch_1_trainer_state.pth", weights_only=True)
    state["meta"] = {"epoch": 0, "rng_state": state["meta"]["adapter"]["random"], "modelscope": "1.40.2", **meta}
    torch.save(state, folder / "old_trainer_state.pth")
    torch.save(torch.load(saved / "epoch_1.pth", weights_only=True), folder / "old.pth")
    return str(folder / "old")


@pytest.mark.parametrize(
    ("meta", "rows", "warned"),
    [
        ({"iter": 11, "inner_iter": 10}, [(1, 10, 0), (1, 19, 9)], False),  # an epoch's end
        ({"iter": 10, "inner_iter": 10}, [(1, 10, 0), (1, 19, 9)], False),  # its last iteration, hooks still to run
        ({"iter": 4, "inner_iter": 4}, [(0, 4, 4), (1, 19, 9)], True),
    ],
)
def test_pairs_of_modelscope_go_on(meta, rows, warned, saved: Path, tmp_path: Path) -> None:
    trainer = simple(tmp_path / "on")
    steps = Steps()
    trainer.register_hook(steps)
    trainer.train(older(saved, tmp_path, **meta))
    assert [row[:3] for row in (steps.rows[0], steps.rows[-1])] == rows
    assert len(steps.rows) == 20 - rows[0][1]
    (log,) = (tmp_path / "on").glob("*.log")
    assert ("the order differs" in log.read_text()) is warned


def test_a_modelscope_pair_at_an_epochs_end_gives_the_same_next_epoch(saved: Path, tmp_path: Path) -> None:
    simple(tmp_path / "on").train(older(saved, tmp_path, iter=11, inner_iter=10))
    want, got = (torch.load(folder / "epoch_2.pth", weights_only=True) for folder in (saved, tmp_path / "on"))
    assert all(torch.equal(want[key], got[key]) for key in want)


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ({"optimizer": {"type": "Adam", "lr": 0.1}}, "holds the state of SGD, but this run uses Adam"),
        ({"dataloader": cases.loader(batch=30)}, None),
    ],
)
def test_what_does_not_fit_is_refused(train, message, saved: Path, tmp_path: Path) -> None:
    trainer = simple(tmp_path, **train)
    if message is None:  # another number of iterations an epoch is fine at an epoch's end
        trainer.train(str(saved / "epoch_1"))
        assert trainer.iter == 12
        return
    with pytest.raises(ValueError, match=message):
        trainer.train(str(saved / "epoch_1"))


def test_a_state_that_is_none_is_refused(saved: Path, tmp_path: Path) -> None:
    path = Path(older(saved, tmp_path, iter=11, inner_iter=10))
    torch.save({"weights": 1}, path.with_name("old_trainer_state.pth"))
    with pytest.raises(ValueError, match=r"old_trainer_state\.pth' is not a trainer state: it lacks 'meta'"):
        simple(tmp_path / "on").train(str(path))


def test_fewer_iterations_than_lie_behind_are_refused(tmp_path: Path) -> None:
    hooks = [{"type": "CheckpointHook", "interval": 8, "by_epoch": False}, TEXT]
    simple(tmp_path / "first", epochs=1, hooks=hooks).train()
    shorter = simple(tmp_path / "second", epochs=1, hooks=hooks, dataloader=cases.loader(batch=10))
    with pytest.raises(ValueError, match="had 8 iterations of this epoch behind it, but the data now give 4"):
        shorter.train(str(tmp_path / "first" / "iter_8"))


def test_states_hold_nothing_that_runs_code(saved: Path) -> None:
    state = files.load(saved / "epoch_1_trainer_state.pth")
    assert sorted(state) == ["lr_scheduler", "meta", "optimizer"]
    assert state["meta"]["adapter"]["random"].keys() == {*random_state(), "samplers"}
