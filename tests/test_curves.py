from __future__ import annotations

import json

import pytest

from adapter.curves import read_curves
from adapter.errors import ConfigError


def write(folder, rows, text="", name="20210101_000000"):
    (folder / f"{name}.log.json").write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    if text:
        (folder / f"{name}.log").write_text(text)


def train(epoch, iteration, loss):
    return {"mode": "train", "epoch": epoch, "iter": iteration, "loss": loss}


def evaluated(epoch, f1):
    return {"mode": "eval", "epoch": epoch, "iter": 5, "evaluation/f1": f1}


BY_EPOCH = "... - INFO - epoch [1][2/8]\tlr: 1.000e-01\n"
BY_RUN = '"max_epochs": 2,\n... - INFO - iter [2/16]\tlr: 1.000e-01\n'


@pytest.mark.parametrize(
    ("rows", "text", "losses", "metrics"),
    [
        (
            [train(1, 2, 4.0), train(1, 6, 3.0), evaluated(1, 0.1), train(2, 2, 2.0), evaluated(2, 0.2)],
            BY_EPOCH,
            [(0.25, 4.0), (0.75, 3.0), (1.25, 2.0)],
            [(1.0, 0.1), (2.0, 0.2)],
        ),
        (
            [train(1, 4, 3.0), evaluated(1, 0.1), train(1, 8, 2.0)],
            BY_EPOCH,
            [(0.5, 3.0), (1.0, 2.0)],
            [(0.5, 0.1)],
        ),
        (
            [train(1, 4, 3.0), train(1, 8, 2.0), train(2, 12, 1.0), evaluated(2, 0.1)],
            BY_RUN,
            [(0.5, 3.0), (1.0, 2.0), (1.5, 1.0)],
            [(2.0, 0.1)],
        ),
        ([train(1, 2, 4.0), train(1, 4, 3.0), evaluated(1, 0.1)], "", [(0.5, 4.0), (1.0, 3.0)], [(1.0, 0.1)]),
    ],
    ids=["numbered in the epoch", "evaluated within it", "numbered in the run", "no text log"],
)
def test_points_lie_at_the_epochs_done(rows, text, losses, metrics, tmp_path):
    write(tmp_path, rows, text)
    curves = read_curves(tmp_path)
    assert curves == {"loss": losses, "evaluation/f1": metrics}


def test_a_resumed_run_goes_on_and_replaces_what_it_repeats(tmp_path):
    write(tmp_path, [train(1, 4, 4.0), train(1, 8, 3.0)], BY_EPOCH, "20210101_000000")
    write(tmp_path, [train(1, 8, 3.5), train(2, 4, 2.0)], BY_EPOCH, "20210102_000000")
    assert read_curves(tmp_path)["loss"] == [(0.5, 4.0), (1.0, 3.5), (1.5, 2.0)]


def test_a_line_cut_off_is_passed_over(tmp_path):
    write(tmp_path, [train(1, 4, 4.0)], BY_EPOCH)
    with (tmp_path / "20210101_000000.log.json").open("a") as log:
        log.write('{"mode": "train", "ep')
    assert read_curves(tmp_path) == {"loss": [(0.5, 4.0)]}


def test_reads_the_log_of_a_run_config(tmp_path):
    rows = [{"train_lr": "0.05", "train_loss": "2.8"}, {"val_acc": 11.1, "val_best_epoch": 0}] * 2
    config = json.dumps({"run": {"max_epoch": 2}}, indent=4)
    (tmp_path / "log.txt").write_text(config + "\n" + "\n".join(map(json.dumps, rows)))
    curves = read_curves(tmp_path)
    assert curves["train_loss"] == [(1.0, 2.8), (2.0, 2.8)]
    assert curves["val_acc"] == [(1.0, 11.1), (2.0, 11.1)]


@pytest.mark.parametrize(("name", "message"), [("", r"no \*.log.json"), ("nowhere", r"nowhere: 1 problem\n  no such")])
def test_refused(name, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        read_curves(tmp_path / name)


def test_a_folder_of_runs_is_told_from_a_run(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.txt").write_text("")
    with pytest.raises(ConfigError, match=f"such as {tmp_path}/one, {tmp_path}/two"):
        read_curves(tmp_path)


WHOLE = '{"mode": "train", "epoch": 1, "iter": 2, "loss": 1.5}'


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("", {}),
        ('{"mode": "train", "iter": 1, "loss": 2.0}', {}),
        ('{"mode": "train", "epoch": "x", "iter": "y", "loss": 2.0}\n[1]\n5', {}),
        ('{"mode": "train", "epoch": 1, "iter": 0, "loss": 2.0}', {"loss": [(0.0, 2.0)]}),
        (f'{WHOLE}\n{{"mode": "train", "epoch": 2, "lo', {"loss": [(1.0, 1.5)]}),
        (f"{WHOLE}\n\udcff\udcfe", {"loss": [(1.0, 1.5)]}),
    ],
)
def test_what_is_no_line_of_the_log_is_passed_over(log, expected, tmp_path):
    """A run has just begun, a crash cut the line off, another program wrote there."""
    (tmp_path / "a.log.json").write_bytes(log.encode(errors="surrogateescape"))
    assert read_curves(tmp_path) == expected
