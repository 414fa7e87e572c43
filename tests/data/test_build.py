from pathlib import Path

import pytest

from adapter.data.build import build_dataset, label_values
from adapter.errors import ConfigError
from adapter.registry import DATASETS

CONFIGS = Path(__file__).parents[2] / "configs"


class Numbers:
    def __init__(self, n, start=0):
        if n < 0:
            raise ValueError("n must not be negative")
        self.values = range(start, start + n)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(DATASETS.modules["default"], "numbers", Numbers)


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ({"type": "numbers", "n": 2}, [0, 10]),
        ([{"type": "numbers", "n": 2}, {"type": "numbers", "n": 1, "start": 5}], [0, 10, 50]),
        ({"type": f"{__name__}.Numbers", "n": 1}, [0]),
    ],
)
@pytest.mark.usefixtures("registered")
def test_one_or_several_with_the_preprocessor(section, expected):
    dataset = build_dataset({"val": section}, "val", preprocessor=lambda sample: 10 * sample)
    assert [dataset[i] for i in range(len(dataset))] == expected


@pytest.mark.parametrize(
    "section",
    [
        {},
        {"train": {"labels": ["a", "b"], "label": "label"}},
        {"train": []},
        {"train": {"type": None, "n": 2}},
        {"train": [{"type": None}]},
        {"train": {"name": None, "file": 3}},
    ],
)
def test_a_section_without_a_type_names_no_data_set(section):
    assert build_dataset(section, "train") is None
    assert label_values(section) == []


def test_null_in_a_section_says_nothing(tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n1,b\n2,a\n")
    section = {"train": {"type": None, "name": None, "file": "a.csv", "label": "label"}}
    assert label_values(section, tmp_path) == ["b", "a"]
    assert len(build_dataset(section, "train", base_dir=tmp_path)) == 2


@pytest.mark.parametrize(("mode", "rows"), [("train", 1437), ("val", 360)])
def test_relative_files_start_from_the_base_folder(mode, rows):
    entry = {"type": "csv", "file": f"data/digits_{mode}.csv", "features": "p*", "label": "label"}
    dataset = build_dataset({mode: entry}, mode, base_dir=CONFIGS)
    assert len(dataset) == rows
    assert dataset[0]["features"].shape == (64,)
    assert {int(sample["label"]) for sample in dataset} == set(range(10))


@pytest.mark.parametrize(
    ("section", "key", "told"),
    [
        ({"type": "number"}, "dataset.train.type", "Did you mean 'numbers'?"),
        ({"type": "numbers"}, "dataset.train.n", "needs 'n'"),
        ({"type": "numbers", "n": -1}, "dataset.train", "n must not be negative"),
        (
            [{"type": "numbers", "n": 1}, {"type": "csv", "file": "x.csv"}],
            "dataset.train[1].file",
            "no such file",
        ),
        ({"type": "csv", "file": 3}, "dataset.train", "cannot be built"),
        ({"file": ["a.csv", "b.jsonl"]}, "dataset.train.file", "a.csv and b.jsonl are files of different kinds"),
    ],
)
@pytest.mark.usefixtures("registered")
def test_a_wrong_data_set_is_refused(section, key, told):
    with pytest.raises(ConfigError) as caught:
        build_dataset({"train": section}, "train")
    assert [problem.key for problem in caught.value.problems] == [key]
    assert told in str(caught.value)
