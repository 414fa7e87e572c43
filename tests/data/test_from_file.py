from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapter import ConfigError, build_dataset_from_file

MAPPING = {"text1": "sequence1", "label": "label"}


def write(folder: Path, *entries: Any) -> Path:
    (folder / "rows.csv").write_text("text1,label,other\n" + "".join(f"t{i},{i % 3},{i}\n" for i in range(10)))
    path = folder / "data.json"
    path.write_text(json.dumps(entries))
    return path


def entry(usage: Any, key: str = "usage", **more: Any) -> dict[str, Any]:
    return {"dataset": {"dataset_name": "rows.csv", "split": "train"}, "column_mapping": MAPPING, key: usage, **more}


@pytest.mark.parametrize(
    ("entries", "train", "val"),
    [
        ([entry("train")], 10, None),
        ([entry("val")], None, 10),
        ([entry(0.8)], 8, 2),
        ([entry(0.8, key="split")], 8, 2),
        ([entry("train"), entry(0.5), entry("val")], 15, 15),
        ([], None, None),
    ],
)
def test_rows_are_for_training_or_evaluation_or_parted(
    entries: list[Any], train: int | None, val: int | None, tmp_path: Path
) -> None:
    found = build_dataset_from_file(write(tmp_path, *entries))
    assert [None if rows is None else len(rows) for rows in found] == [train, val]


def test_the_parts_of_a_fraction_are_all_the_rows_and_always_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, entry(0.7))
    train, val = build_dataset_from_file(path)
    assert sorted([*train["sequence1"], *val["sequence1"]]) == [f"t{i}" for i in range(10)]
    assert build_dataset_from_file(path)[0]["sequence1"] == train["sequence1"]


def test_mapped_columns_are_kept_under_their_new_names(tmp_path: Path) -> None:
    assert build_dataset_from_file(write(tmp_path, entry("train")))[0][1] == {"sequence1": "t1", "label": 1}
    everything = build_dataset_from_file(write(tmp_path, entry("train", column_mapping=None)))[0]
    assert everything.column_names == ["text1", "label", "other"]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (entry("test"), r"data\.json: 1 problem\s+\[0\]\.usage: found 'test'; allowed: train, val or a number"),
        (entry(1.5), r"\[0\]\.usage: found 1\.5"),
        (entry("train", dataset={}), r"\[0\]\.dataset\.dataset_name: not given"),
        (entry("train", column_mapping={"b": "c"}), r"\[0\]\.column_mapping: there is no column 'b'; allowed: text1"),
    ],
)
def test_a_wrong_entry_is_named(wrong: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        build_dataset_from_file(write(tmp_path, wrong))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("[")
    for name in ("absent.json", "broken.json"):
        with pytest.raises(ConfigError, match=rf"{name}: 1 problem\s+cannot be read"):
            build_dataset_from_file(tmp_path / name)
