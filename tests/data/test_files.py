import gc
import json

import pytest
import torch

from adapter.data.files import CsvDataset, FileStream, JsonDataset, ParquetDataset, TextDataset, TsvDataset
from adapter.errors import ConfigError

CSV = "p0,p1,label,name,weight\n1,2.5,0,x,\n3,4,1,y,2\n"


@pytest.fixture
def csv(tmp_path):
    (tmp_path / "rows.csv").write_text(CSV)
    return tmp_path


@pytest.fixture
def collected():
    """Pandas leaves a file whose reading stops early to the collector, which then warns in whatever test it comes."""
    yield
    gc.collect()


def plain(sample):
    return {name: value.tolist() if isinstance(value, torch.Tensor) else value for name, value in sample.items()}


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"features": "p*", "label": "label"}, {"features": [3.0, 4.0], "label": 1}),
        ({"features": ["p1", "p0"]}, {"features": [4.0, 3.0]}),
        ({"columns": {"x": "p0", "who": "name"}, "label": "label"}, {"x": 3, "who": "y", "label": 1}),
        ({"columns": {"w": "weight"}}, {"w": 2.0}),
        ({"label": "label"}, {"label": 1}),
        ({"label": "name"}, {"label": "y"}),
        ({"label": "name", "labels": ["y", "x"]}, {"label": 0}),
        ({"first_sequence": "p0", "label": "label"}, {"p0": "3", "label": 1}),
        ({"text_col": 3, "label_col": 2}, {"first_sequence": "y", "label": 1}),
        ({"col_index": [3, 2]}, {"first_sequence": "y", "label": 1}),
        ({"col_index": {"text_col": "name", "label_col": 2}}, {"name": "y", "label": 1}),
        ({}, {"p0": 3, "p1": 4.0, "label": 1, "name": "y", "weight": 2.0}),
    ],
)
def test_columns_become_a_sample(csv, args, expected):
    dataset = CsvDataset("rows.csv", base_dir=csv, **args)
    assert len(dataset) == 2
    assert plain(dataset[1]) == expected


def test_numbers_are_float32_or_int64_tensors(csv):
    sample = CsvDataset("rows.csv", features="p*", columns={"p1": "p1"}, label="label", base_dir=csv)[0]
    assert {name: value.dtype for name, value in sample.items()} == {
        "features": torch.float32,
        "p1": torch.float32,
        "label": torch.int64,
    }


CODES = "code,answer,kind\n007,1.50,01\n12,,02\n1e3,4,02\n"


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(("cls", "separator"), [(CsvDataset, ","), (TsvDataset, "\t")])
def test_texts_stay_as_they_are_written(tmp_path, cls, separator, streaming):
    (tmp_path / "codes").write_text(CODES.replace(",", separator))
    asked = {"first_sequence": "code", "second_sequence": "answer", "base_dir": tmp_path}
    dataset = FileStream(cls.format, "codes", **asked) if streaming else cls("codes", **asked)
    assert [tuple(row.values()) for row in dataset] == [("007", "1.50"), ("12", None), ("1e3", "4")]


@pytest.mark.parametrize(
    ("cells", "values", "header"),
    [
        (["01", "02", "1"], ["01", "02", "1"], True),
        (["01", "02"], ["01", "02"], False),
        (["10", "9", "-1"], [10, 9, -1], True),
        (["+1", "-1"], ["+1", "-1"], True),
        (["1.0", "2.0"], [1.0, 2.0], True),
    ],
)
def test_labels_that_are_more_than_their_digits_are_names(tmp_path, cells, values, header):
    (tmp_path / "rows.csv").write_text("\n".join(["text,label"] * header + [f"a,{cell}" for cell in cells]) + "\n")
    dataset = CsvDataset("rows.csv", label=1, header=header, base_dir=tmp_path)
    assert dataset.label_values() == values
    numbered = CsvDataset("rows.csv", label=1, labels=values, header=header, base_dir=tmp_path)
    assert [int(row["label"]) for row in numbered] == list(range(len(values)))


def test_numbers_that_are_listed_may_be_written_in_another_way(tmp_path):
    (tmp_path / "rows.csv").write_text("text,label\na,+1\nb,-1\nc,01\n")
    dataset = CsvDataset("rows.csv", label="label", labels=[-1, 1], base_dir=tmp_path)
    assert [int(row["label"]) for row in dataset] == [1, 0, 1]


def test_labels_of_several_kinds_are_refused(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text": "a", "label": 1}\n{"text": "b", "label": "x"}\n')
    with pytest.raises(ConfigError, match=r"label: column 'label' of .*rows\.jsonl has values of several kinds"):
        JsonDataset("rows.jsonl", label="label", base_dir=tmp_path).label_values()


@pytest.mark.parametrize("absolute", [True, False])
def test_files_of_a_list_come_one_after_the_other(csv, absolute, monkeypatch):
    monkeypatch.chdir(csv)
    name = str(csv / "rows.csv") if absolute else "rows.csv"
    dataset = CsvDataset([name, name], label="label")
    assert [int(sample["label"]) for sample in dataset] == [0, 1, 0, 1]


@pytest.mark.parametrize("as_list", [True, False])
def test_json(tmp_path, as_list):
    rows = [{"text": "a", "label": 1}, {"text": "b", "label": 0}]
    text = json.dumps(rows) if as_list else "\n".join(map(json.dumps, rows))
    (tmp_path / "rows.json").write_text(text)
    assert [plain(row) for row in JsonDataset("rows.json", base_dir=tmp_path)] == rows


def test_parquet(tmp_path):
    import pyarrow.parquet

    table = pyarrow.table({"x": [1.5, 2.5], "flag": [True, False]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    dataset = ParquetDataset("rows.parquet", features=["x"], label="flag", base_dir=tmp_path)
    assert plain(dataset[0]) == {"features": [1.5], "label": 1}


def test_tabs_between_columns_and_quotes_that_mean_themselves(tmp_path):
    (tmp_path / "rows.tsv").write_text('"odd\t1\nnull\t0\n')
    dataset = TsvDataset("rows.tsv", first_sequence=0, label=1, header=False, base_dir=tmp_path)
    assert [plain(row) for row in dataset] == [
        {"first_sequence": '"odd', "label": 1},
        {"first_sequence": "null", "label": 0},
    ]


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.usefixtures("collected")
def test_a_stream_gives_the_same_rows(csv):
    asked = {"columns": {"p": "p0"}, "label": "name", "labels": ["x", "y"], "base_dir": csv}
    stream, dataset = FileStream("csv", "rows.csv", **asked), CsvDataset("rows.csv", **asked)
    assert [plain(row) for row in stream] == [plain(row) for row in dataset]


def test_a_stream_in_another_order_each_epoch(tmp_path):
    (tmp_path / "lines.txt").write_text("\n".join(map(str, range(20))))
    stream = FileStream("text", "lines.txt", shuffle_buffer=20, base_dir=tmp_path)
    orders = []
    for epoch in (0, 1, 0):
        stream.set_epoch(epoch)
        orders.append([row["text"] for row in stream])
    assert orders[0] == orders[2] != orders[1]
    assert sorted(map(int, orders[0])) == list(range(20))


def test_text(tmp_path):
    (tmp_path / "lines.txt").write_text("one\ntwo\n")
    assert list(TextDataset("lines.txt", base_dir=tmp_path)) == [{"text": "one"}, {"text": "two"}]


def test_the_console_stays_silent(csv, capfd):
    CsvDataset("rows.csv", base_dir=csv)
    (csv / "bad.csv").write_text("a\n1\n1,2\n")
    with pytest.raises(ConfigError):
        CsvDataset("bad.csv", base_dir=csv)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "args", "told"),
    [
        (CSV, {"file": "row.csv"}, "Did you mean 'rows.csv'?"),
        (CSV, {"file": ["rows.csv", "none/rows.csv"]}, "no such file"),
        (CSV, {"label": "lable"}, "Did you mean 'label'?"),
        (CSV, {"columns": {"x": "p2"}}, "no column 'p2'"),
        (CSV, {"features": ["p*", "q*"]}, "no column 'q*'"),
        (CSV, {"label": "weight"}, "column 'weight'"),
        (CSV, {"label": "name", "labels": ["x", "z"]}, "row 2 of column 'name'"),
        (CSV, {"label": 5}, "no column number 5; allowed: p0, p1, label, name, weight"),
        ("a,b\n", {}, "is empty"),
        (CSV, {"features": ["p0", "weight"]}, "an empty cell"),
        ("", {}, "is empty"),
        ("a,b\n1,2\n1,2,3\n", {}, "line 3"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, text, args, told):
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(ConfigError) as caught:
        CsvDataset(**{"file": "rows.csv", "base_dir": tmp_path, **args})
    assert told in str(caught.value)
