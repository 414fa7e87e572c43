from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import huggingface_hub
import pytest

from adapter import ConfigError
from adapter.data.build import build_dataset
from adapter.data.named import load_named
from tests.small_runs import build, settings


@pytest.fixture(autouse=True)
def no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are not asked for elsewhere; a cache of their own."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two splits, of 6 and 3 rows, and a file of 2."""
    (tmp_path / "both").mkdir()
    rows = "".join(f"{i}.5,{i % 2}\n" for i in range(6))
    (tmp_path / "both" / "train.csv").write_text("x,label\n" + rows)
    (tmp_path / "both" / "test.csv").write_text("x,label\n" + rows[:18])
    (tmp_path / "lines.txt").write_text("one\ntwo\n")
    (tmp_path / "more.jsonl").write_text('{"x": 1}\n{"x": 2}\n{"x": 3}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("section", "train", "val"),
    [
        ({"name": "both", "split_train": "train", "split_val": "test"}, 6, 3),
        ({"name": "both", "split_train": "train", "split_eval": "test"}, 6, 3),
        ({"name": "both", "split_train": "train"}, 6, None),
        ({"name": "lines.txt", "split_train": "train", "split_val": "train"}, 2, 2),
        ({"name": "more.jsonl", "split_train": "train", "train": {"labels": [1]}}, 3, None),
        ({"name": "both", "split_train": "train", "train": {"type": "json", "file": "more.jsonl"}}, 3, None),
        ({"name": "both"}, None, None),
    ],
)
def test_a_name_and_a_split_are_data(section: dict[str, Any], train: Any, val: Any, folder: Path) -> None:
    made = [build_dataset(section, mode, base_dir=folder) for mode in ("train", "val")]
    assert [None if data is None else len(data) for data in made] == [train, val]


def test_the_folder_that_relative_names_start_from_is_read_as_files_are(folder: Path) -> None:
    (folder / "both" / "train.csv").write_text("x,label\n1,NA\n,null\n")
    assert list(load_named(".", "train", base_dir=folder / "both")) == [
        {"x": 1.0, "label": "NA"},
        {"x": None, "label": "null"},
    ]


@pytest.mark.parametrize("whole", [True, False])
def test_a_folder_of_save_to_disk_is_data(whole: bool, folder: Path) -> None:
    rows = datasets.Dataset.from_list([{"x": number} for number in range(4)])
    saved = datasets.DatasetDict(train=rows, dev=rows.select([3])) if whole else rows.select([3])
    saved.save_to_disk(folder / "saved")
    assert load_named("saved", "dev", base_dir=folder)[0] == {"x": 3}
    if whole:
        with pytest.raises(ConfigError, match=r"cannot read the split 'val' of 'saved': .* it has train, dev"):
            load_named("saved", "val", base_dir=folder)


def test_a_name_of_hugging_faces_hub_comes_from_its_cache(folder: Path) -> None:
    """What its library has downloaded once is there without a network."""
    made = datasets.load_dataset("csv", data_files={"train": str(folder / "both" / "train.csv")}, split="train")
    cached = Path(datasets.config.HF_DATASETS_CACHE, "me___films", "default", "0.0.0", "0")
    shutil.copytree(Path(made.cache_files[0]["filename"]).parent, cached)
    (cached / "csv-train.arrow").rename(cached / "films-train.arrow")
    section = {"train": {"name": "me/films", "subset": "default", "split": "train", "label": "label"}}
    data = build_dataset(section, "train")
    assert (len(data), data.label_values()) == (6, [0, 1])


def test_samples_are_those_of_a_file(folder: Path) -> None:
    named = build_dataset({"name": "both", "split_train": "train"}, "train", base_dir=folder)
    by_file = build_dataset({"train": {"type": "csv", "file": "both/train.csv"}}, "train", base_dir=folder)
    assert [named[i] for i in range(6)] == [by_file[i] for i in range(6)]
    assert named[1]["x"].item() == 1.5


def test_a_trainer_takes_them_from_the_config(folder: Path, tmp_path: Path) -> None:
    names = {"name": str(folder / "both"), "split_train": "train", "split_val": "test"}
    config = settings(dataset=names, evaluation__period={"interval": 1})
    trainer = build(tmp_path, config, train_dataset=None, eval_dataset=None)
    assert (len(trainer.train_dataset), len(trainer.eval_dataset)) == (6, 3)


@pytest.mark.parametrize(
    ("section", "text"),
    [
        (
            {"name": "me/none"},
            r"dataset\.name: cannot read .*'me/none'(?s:.*)fix: .*save_to_disk; .*\[modelscope\]",
        ),
        ({"name": "me/none", "hub": "modelscope"}, r"dataset\.hub: ModelScope is not installed\s+fix: pip install"),
        ({"name": "me/none", "hub": "hugingface"}, r"dataset\.hub: found 'hugingface'; .*Did you mean 'huggingface'"),
        ({"name": "both", "split_train": "dev"}, r"dataset\.name: cannot read the split 'dev' of 'both': .*dev"),
    ],
)
def test_data_that_are_not_there_are_refused(section: dict[str, Any], text: str, folder: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        build_dataset({"split_train": "train", **section}, "train", base_dir=folder)


@pytest.fixture
def modelscope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stands in for the package, whose other side is a server."""
    package = tmp_path / "site" / "modelscope"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "msdatasets.py").write_text(
        "import datasets\n"
        "class MsDataset:\n"
        "    @staticmethod\n"
        "    def load(name, **given):\n"
        "        return datasets.Dataset.from_list([{'name': name, **given}])\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "modelscope"]:
        del sys.modules[name]


@pytest.mark.usefixtures("modelscope")
def test_other_names_go_to_modelscope() -> None:
    rows = load_named("clue", "validation", "afqmc", options={"namespace": "me"})
    assert rows[0] == {"name": "clue", "split": "validation", "subset_name": "afqmc", "namespace": "me"}
