"""Text models trained by a config alone: each task, what comes out of it, and what is refused before training."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from adapter import ConfigError, build_trainer
from adapter.cli.main import main
from tests.conftest import CORPUS
from tests.small_runs import Losses
from tests.tiny_models import BLAME, PRAISE, tiny_bert, tiny_gpt

pytest.importorskip("transformers")

ROWS = [(f"the film was {word}", "praise") for word in PRAISE] + [(f"the plot was {word}", "blame") for word in BLAME]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, dataset_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Training and evaluation rows, and a cache of their own; commands leave their logs below it."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("train", ROWS * 4), ("val", ROWS)):
        lines = [json.dumps({"sentence": text, "verdict": verdict}) for text, verdict in rows]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    return tmp_path


def settings(model: Path, **changes: Any) -> dict[str, Any]:
    """Six epochs of text classification; `__` in a name goes a level down."""
    config: dict[str, Any] = {
        "task": "text-classification",
        "model": {"path": str(model)},
        "dataset": {
            "train": {"file": "train.jsonl", "first_sequence": "sentence", "label": "verdict"},
            "val": {"file": "val.jsonl"},
        },
        "preprocessor": {"type": "Tokenize"},
        "train": {
            "max_epochs": 6,
            "dataloader": {"batch_size_per_gpu": 6, "workers_per_gpu": 0},
            "optimizer": {"type": "AdamW", "lr": 0.01},
        },
        "evaluation": {"dataloader": {"batch_size_per_gpu": 4}, "period": {"interval": 1}},
    }
    for name, value in changes.items():
        *path, last = name.split("__")
        section = config
        for step in path:
            section = section.setdefault(step, {})
        section[last] = value
    return config


def trainer_on(folder: Path, config: dict[str, Any], **keywords: Any) -> Any:
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    return build_trainer(
        default_args={"cfg_file": str(path), "work_dir": str(folder / "run"), "device": "cpu", **keywords}
    )


def trained(folder: Path, config: dict[str, Any], **keywords: Any) -> Any:
    trainer = trainer_on(folder, config, **keywords)
    trainer.train()
    return trainer


def test_transformers_builds_a_model_of_modelscope_without_its_package_and_it_is_said(
    folder: Path, bert: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = shutil.copytree(bert, tmp_path_factory.mktemp("model") / "bert")
    config = {**settings(bert, train__max_epochs=1), "model": {"type": "bert"}}
    config["dataset"] = {mode: {**part, "file": str(folder / part["file"])} for mode, part in config["dataset"].items()}
    (directory / "configuration.json").write_text(json.dumps(config))
    assert main(["fit", str(directory), "--work-dir", str(directory / "run")]) == 0
    told = f"{directory} is ModelScope's, whose package is not installed: transformers builds its 'bert'"
    assert told in next((directory / "run").glob("*.log")).read_text()
    output = {path.name for path in (directory / "run" / "output").iterdir()}
    assert output >= {"config.json", "configuration.json", "pytorch_model.bin", "tokenizer.json"}
    assert "run" not in output


def test_classification_from_a_config_alone(folder: Path, bert: Path) -> None:
    trainer = trained(folder, settings(bert))
    assert type(trainer.model).__name__ == "BertForSequenceClassification"
    assert trainer.model.config.id2label == {0: "blame", 1: "praise"}
    assert trainer.metric_values["accuracy"] == 1.0


def test_predictions_and_the_exported_folder_agree_in_another_process(folder: Path, bert: Path, capsys) -> None:
    trained(folder, settings(bert))
    config, out = str(folder / "config.yaml"), folder / "out.jsonl"
    words = ["predict", config, "--ckpt", str(folder / "run" / "epoch_6"), "--out", str(out)]
    assert main([*words, "--work-dir", str(folder / "again")]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["label"] for row in rows] == [label for _, label in ROWS]
    assert all(row["score"] == max(row["scores"].values()) for row in rows)
    assert main(["export", str(folder / "run"), "-o", str(folder / "model")]) == 0
    assert "model.safetensors" in capsys.readouterr().out
    code = (
        "import sys, json, transformers\n"
        "classify = transformers.pipeline('text-classification', sys.argv[1], device='cpu')\n"
        "print(json.dumps(classify(json.loads(sys.argv[2]))))\n"
    )
    texts = json.dumps([text for text, _ in ROWS])
    done = subprocess.run([sys.executable, "-c", code, str(folder / "model"), texts], capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert [(row["label"], pytest.approx(row["score"], abs=1e-5)) for row in rows] == [
        (each["label"], each["score"]) for each in found
    ]


def test_the_output_folder_is_enough_to_load_from(folder: Path, bert: Path) -> None:
    import transformers

    trainer = trained(folder, settings(bert))
    loaded = transformers.AutoModelForSequenceClassification.from_pretrained(folder / "run" / "output")
    assert all(torch.equal(loaded.state_dict()[name], value) for name, value in trainer.model.state_dict().items())
    transformers.AutoTokenizer.from_pretrained(folder / "run" / "output")


def test_adapters_are_trained_alone_and_merged_when_exported(folder: Path, bert: Path) -> None:
    import transformers

    lora = {"type": "lora", "r": 2, "target_modules": ["query", "value"], "modules_to_save": ["classifier"]}
    trainer = trained(folder, settings(bert, train__hooks=[{"type": "SwiftHook", "efficient_tuners": lora}]))
    trainable = [name for name, value in trainer.model.named_parameters() if value.requires_grad]
    assert all("lora" in name or "classifier" in name for name in trainable)
    assert main(["export", str(folder / "run"), "-o", str(folder / "model")]) == 0
    loaded = transformers.AutoModelForSequenceClassification.from_pretrained(folder / "model").eval()
    batch = {"input_ids": torch.tensor([[2, 4, 3]])}
    assert torch.allclose(loaded(**batch).logits, trainer.model.eval()(**batch).logits, atol=1e-5)


def test_words_get_labels(folder: Path, bert: Path) -> None:
    rows = [{"tokens": text.split(), "tags": ["O", "B-THING", "O", "O"]} for text, _ in ROWS]
    (folder / "train.jsonl").write_text("\n".join(map(json.dumps, rows * 4)))
    (folder / "val.jsonl").write_text("\n".join(map(json.dumps, rows)))
    data = {"file": "train.jsonl", "first_sequence": "tokens", "label": "tags"}
    config = settings(bert, task="token-classification", dataset__train=data, preprocessor__type="token-cls-tokenizer")
    trainer = trained(folder, config)
    assert type(trainer.model).__name__ == "BertForTokenClassification"
    assert trainer.metric_values["f1"] == 1.0
    out = folder / "out.jsonl"
    assert (
        main(["predict", str(folder / "config.yaml"), "--ckpt", str(folder / "run" / "epoch_6"), "--out", str(out)])
        == 0
    )
    assert json.loads(out.read_text().splitlines()[0])["labels"] == ["O", "B-THING", "O", "O"]


def test_pairs(folder: Path, bert: Path) -> None:
    rows = [{"a": f"good {x}", "b": f"{y} film", "same": int(x == y)} for x in PRAISE for y in PRAISE]
    (folder / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    data = {"file": "train.jsonl", "first_sequence": "a", "second_sequence": "b", "label": "same"}
    config = settings(bert, task="sentence-similarity", dataset={"train": data, "val": {"file": "train.jsonl"}})
    config["preprocessor"] = {"type": "sen-sim-tokenizer"}
    trainer = trained(folder, config)
    assert set(trainer.train_dataset[0]["token_type_ids"]) == {0, 1}
    assert {"accuracy", "binary-f1"} <= trainer.metric_values.keys()


def test_a_text_that_leaves_no_room_to_write_is_refused_before_training(folder: Path) -> None:
    (folder / "long.jsonl").write_text(json.dumps({"prompt": "very " * 40, "answer": "good"}))
    data = {"file": "long.jsonl", "first_sequence": "prompt", "second_sequence": "answer"}
    config = settings(tiny_gpt(folder / "gpt"), task="text-generation", dataset={"train": data, "val": data})
    config["preprocessor"] = {"type": "text-gen-tokenizer"}
    with pytest.raises(ConfigError, match=r"preprocessor\.max_length: a text of 32 tokens fills the 32 .*\s.*below 32"):
        trainer_on(folder, config)
    assert not (folder / "run").exists()


def test_texts_go_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"prompt": "the film was", "answer": "very good"}, {"prompt": "a plot", "answer": "and why"}]
    (folder / "train.jsonl").write_text("\n".join(map(json.dumps, rows * 6)))
    data = {"file": "train.jsonl", "first_sequence": "prompt", "second_sequence": "answer"}
    config = settings(tiny_gpt(folder / "gpt"), task="text-generation", train__max_epochs=15)
    config["dataset"] = {"train": data, "val": data}
    config["preprocessor"] = {"type": "text-gen-tokenizer", "max_new_tokens": 4}
    config["evaluation"] = {"metrics": ["loss-metric", "ppl"]}
    trainer = trained(folder, config)
    assert trainer.train_dataset[0]["labels"][:3] == [-100] * 3
    with monkeypatch.context() as patch:
        patch.setattr(trainer.model, "generate", None)  # neither metric looks at what is written
        values = trainer.evaluate()
    assert values["ppl"] == pytest.approx(math.exp(values["loss"]), rel=1e-5)  # each answer has as many tokens
    (folder / "new.jsonl").write_text("\n".join(json.dumps({"prompt": row["prompt"]}) for row in rows))
    for file, times in (("train.jsonl", 6), ("new.jsonl", 1)):
        pair, out = folder / "run" / "epoch_15", folder / "out.jsonl"
        made = predicted(folder / "config.yaml", pair, out, f"dataset.val.file={file}")
        assert made == [{"text": text} for text in ("very good", "and why")] * times


def test_numbers_for_texts(folder: Path, bert: Path) -> None:
    rows = [{"text": text, "stars": 4.5 if verdict == "praise" else 1.5} for text, verdict in ROWS]
    (folder / "train.jsonl").write_text("\n".join(map(json.dumps, rows * 4)))
    data = {"file": "train.jsonl", "first_sequence": "text", "label": "stars"}
    config = settings(bert, task="text-regression", dataset={"train": data}, train__max_epochs=6)
    del config["evaluation"]
    note = Losses()
    trainer = trained(folder, config, callbacks=[note])
    assert trainer.model.config.problem_type == "regression"
    assert note.seen[-1] < note.seen[0] / 3


OLD = """
version: v0.1
framework: pytorch
task: text-classification
model:
  path: bert
  attention_probs_dropout_prob: 0.0
  backbone:
    type: bert
    prefix: bert
dataset:
  train:
    col_index: &col_indexs
      text_col: 0
      label_col: 1
    file: train.tsv
  valid:
    col_index: *col_indexs
    file: valid.tsv
  test:
    col_index: *col_indexs
    file: ~
preprocessor:
  type: Tokenize
  tokenizer_name: bert
train:
  batch_size: 8
  learning_rate: 0.00001
  lr_scheduler_type: cosine
  num_steps: 7
evaluation:
  max_sequence_length: 16
  batch_size: 4
  metrics:
    - accuracy
    - f1
"""


def test_the_old_style_runs_as_it_stands(folder: Path, capsys) -> None:
    tiny_bert(folder / "bert")
    for name, times in (("train", 4), ("valid", 1)):
        lines = [f"{text}\t{int(verdict == 'praise')}" for text, verdict in ROWS * times]
        (folder / f"{name}.tsv").write_text("\n".join(["sentence\tlabel", *lines]))
    (folder / "old.yaml").write_text(OLD)
    words = [str(folder / "old.yaml"), "--work-dir", str(folder / "run")]
    assert main(["fit", *words]) == 0
    assert (folder / "run" / "epoch_3.pth").is_file()  # 3 iterations an epoch
    assert main(["validate", *words, "--ckpt", str(folder / "run" / "epoch_3.pth"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"accuracy", "f1"}


PATHS = {
    "path: bert-base-sst2": "path: bert",
    "tokenizer_name: /data/bert-base-sst2": "tokenizer_name: bert",
    "file: null": "file: train.tsv",
    "file: glue/sst2": "file: valid.tsv",
}


def test_modelscopes_own_file_runs_once_its_paths_are_local(folder: Path, capsys) -> None:
    """``configs/nlp/sequence_classification_trainer.yaml``, which repeats values of another model than it names."""
    import transformers

    tiny_bert(folder / "bert")
    for name, times in (("train", 50), ("valid", 1)):
        lines = [f"{text}\t{int(verdict == 'praise')}" for text, verdict in ROWS * times]
        (folder / f"{name}.tsv").write_text("\n".join(["sentence\tlabel", *lines]))
    text = (CORPUS / "modelscope" / "004.yaml").read_text()
    for old, new in PATHS.items():
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "seed.yaml").write_text(text)
    words = [str(folder / "seed.yaml"), "--work-dir", str(folder / "run")]
    assert main(["fit", *words, "train.num_steps=6", "train.learning_rate=0.01"]) == 0
    made = transformers.AutoConfig.from_pretrained(folder / "run" / "output")
    own = transformers.AutoConfig.from_pretrained(folder / "bert")
    assert (made.model_type, made.num_labels, made.hidden_dropout_prob) == ("bert", 5, 0.1)
    for name in ("hidden_size", "hidden_act", "vocab_size", "num_hidden_layers", "pad_token_id"):
        assert getattr(made, name) == getattr(own, name)
    capsys.readouterr()
    checkpoint = str(folder / "run" / "epoch_3.pth")  # 300 rows, 256 a batch
    assert main(["validate", *words, "--ckpt", checkpoint, "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"accuracy", "f1"}


def test_a_stream_needs_its_labels_and_a_number_of_iterations(folder: Path, bert: Path) -> None:
    stream = {"file": "train.jsonl", "streaming": True, "first_sequence": "sentence", "label": "verdict"}
    config = settings(bert, dataset__train={**stream, "labels": ["blame", "praise"]}, train__train_iters_per_epoch=3)
    trainer = trained(folder, config)
    assert trainer.iter == 3 * 6


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"model__path": "./absent"}, r"model\.path: no such directory: \./absent"),
        ({"model__path": "/absent/model"}, r"model\.path: no such directory"),
        (
            {"task": "text-generatoin", "evaluation": {}},
            r"model\.head: nothing says what the model ends in.*Did you mean 'text-generation'",
        ),
        ({"model__head": "AutoModelForNothing"}, r"model\.head: transformers has no model class"),
        ({"model__hiden_size": 3}, r"model\.hiden_size: bert models have no setting.*Did you mean 'hidden_size'"),
        ({"model__hidden_size": 8}, r"model\.hidden_size: found 8, but the weights of '.*' are those of 16"),
        (
            {"model__backbone": {"type": "bert", "vocab_size": 9}, "model__hidden_dropout_prob": 0.5},
            r"1 problem\s.*model\.vocab_size: found 9",
        ),
        ({"model__backbone": {"type": "gpt2"}}, r"model\.backbone\.type: found 'gpt2'.*bert"),
        (
            {"dataset__train__labels": ["praise", "none"]},
            r"row 13? of column 'verdict' of .*label 'blame'.*praise|row 4 of",
        ),
        ({"dataset__val__file": "none.jsonl"}, r"dataset\.val\.file: no such file"),
        ({"dataset__train__file": "empty.csv"}, r"dataset\.train\.file: .*empty\.csv is empty"),
        ({"dataset__train__first_sequence": "sentense"}, r"no column 'sentense'.*sentence, verdict.*'sentence'"),
        (
            {"dataset__val__file": "other.csv"},
            r"dataset\.val\.file: .*other\.csv has no column 'sentence'.*words, kind",
        ),
        ({"dataset__train__label": None}, r"dataset\.train\.label: not given.*nothing to learn"),
        ({"task": "text-regression"}, r"dataset\.train\.label: found 'praise', which is no number"),
        ({"task": "text-generation"}, r"model\.path: a bert model reads texts in both directions.*\s.*gpt2"),
        (
            {"task": "token-classification", "preprocessor__type": "ner-tokenizer"},
            r"dataset\.train\.label: a sample has 4 words and 1 labels",
        ),
        (
            {"dataset__train__labels": ["praise"]},
            r"dataset\.train\.label: 'praise' is the only label: .*\s.*regression",
        ),
        ({"dataset__train__file": "alike.csv"}, r"dataset\.train\.label: 'praise' is the only label"),
        ({"dataset__train__labels": ["praise", "blame", "praise"]}, r"\.labels: the list has 'praise' more than once"),
        ({"dataset__train__file": "wide.csv"}, r"wide\.csv names 2 columns in its first line, .* has 3 cells\s.*quote"),
        (
            {"dataset__val__file": "long.csv", "preprocessor__max_length": 64},
            r"preprocessor\.max_length: a text of 42 tokens is longer than the 32 that the model.*\s.*32 or less",
        ),
        ({"preprocessor__max_length": 33, "preprocessor__padding": "max_length"}, r"a text of 33 tokens is longer"),
        (
            {"preprocessor__max_length": "64", "preprocessor__max_new_tokens": 0},
            r"max_length: found '64'; allowed: an integer of 1 or more\s.*max_new_tokens: found 0",
        ),
        ({"preprocessor__padding": "longst"}, r"preprocessor\.padding: found 'longst'; .*Did you mean 'longest'"),
        ({"preprocessor__tokenizer_name": "./none"}, r"preprocessor\.tokenizer_name: no such directory"),
        ({"preprocessor__second_sequence": "more"}, r"preprocessor\.second_sequence: samples have no column 'more'"),
    ],
)
def test_what_is_wrong_is_refused_before_training(changes, text: str, folder: Path, bert: Path) -> None:
    (folder / "empty.csv").touch()
    (folder / "other.csv").write_text("words,kind\ngood,praise\n")
    (folder / "alike.csv").write_text("sentence,verdict\ngood,praise\nfine,praise\n")
    (folder / "wide.csv").write_text("sentence,verdict\na film, good,praise\na film, bad,blame\n")
    (folder / "long.csv").write_text("sentence,verdict\n" + "good " * 40 + ",praise\n")
    with pytest.raises(ConfigError, match=text):
        trainer_on(folder, settings(bert, **changes))
    assert not (folder / "run").exists()


@pytest.mark.parametrize("moved", [False, True])
def test_rows_without_labels_are_predicted_from_the_output_folder_alone(folder: Path, bert: Path, moved: bool) -> None:
    own = shutil.copytree(bert, folder / "bert")
    config = settings(Path("bert"), train__max_epochs=2)
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    assert main(["fit", str(path), "--work-dir", str(folder / "run")]) == 0
    expected = predicted(path, folder / "run" / "epoch_2.pth", folder / "labeled.jsonl")
    new = folder / "new.jsonl"
    new.write_text("\n".join(json.dumps({"sentence": text}) for text, _ in ROWS))
    source, weights = path, folder / "run" / "epoch_2.pth"
    if moved:  # nothing else is left
        for left in (own, folder / "run" / "output"):
            left.rename(folder / f"moved_{left.name}")
        for name in ("train.jsonl", "val.jsonl", "config.yaml"):
            (folder / name).unlink()
        source = folder / "moved_output"
        weights = source / "pytorch_model.bin"
    made = predicted(source, weights, folder / "made.jsonl", f"dataset.val.file={new}")
    assert made == expected
    assert {row["label"] for row in made} <= {"praise", "blame"}


@pytest.mark.parametrize("written", [{}, {"verdict": None}, {"verdict": "so-so"}], ids=["absent", "empty", "unknown"])
def test_labels_that_say_nothing_do_not_keep_rows_from_being_predicted(
    written: dict[str, Any], folder: Path, bert: Path
) -> None:
    (folder / "val.jsonl").write_text("\n".join(json.dumps({"sentence": text, **written}) for text, _ in ROWS))
    trainer = trainer_on(folder, settings(bert), purpose="predict")
    assert trainer.train_dataset is None
    assert "labels" not in trainer.build_dataset(None, "val", trainer.eval_preprocessor)[0]
    with pytest.raises(ConfigError, match=r"dataset\.val"):  # an evaluation needs them
        trainer_on(folder, settings(bert))


def predicted(config: Path, weights: Path, out: Path, *options: str) -> list[dict[str, Any]]:
    assert main(["predict", str(config), "--ckpt", str(weights), "--out", str(out), *options]) == 0
    return [json.loads(line) for line in out.read_text().splitlines()]
