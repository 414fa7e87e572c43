from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapter import Config, ConfigError
from adapter.checkpoint.hub import without_tokens
from tests.small_runs import build, settings

REAL_PYTHON = os.environ.get("ADAPTER_REAL_PYTHON", "")
PUSH = {"push_to_hub": True, "hub_repo_id": "me/it", "hub_token": "secret", "private_hub": False, "hub_revision": "dev"}

# Stands in for the package's two functions, whose other side is a server; notes its calls beside itself.
MODELSCOPE = """
import json, os

def note(*call):
    with open(os.path.join(os.path.dirname(__file__), "calls"), "a") as file:
        file.write(json.dumps(call) + "\\n")

def push_to_hub_in_queue(queue_name, strategy="cancel", **kwargs):
    note("push", queue_name, strategy, kwargs, sorted(os.listdir(kwargs["output_dir"])))

def wait_for_done(queue_name):
    note("wait", queue_name)
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "site" / "modelscope" / "hub"
    folder.mkdir(parents=True)
    (folder / "push_to_hub.py").write_text(MODELSCOPE)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield folder / "calls"
    for name in [name for name in sys.modules if name.partition(".")[0] == "modelscope"]:
        del sys.modules[name]


def test_each_saver_uploads_its_output_folder(calls: Path, tmp_path: Path) -> None:
    config = settings(
        train__max_epochs=2,
        train__checkpoint={
            "period": {**PUSH, "upload_strategy": "wait"},
            "best": {"metric_key": "accuracy", "push_to_hub": True, "hub_repo_id": "me/best"},
        },
        evaluation__period={"interval": 1},
    )
    trainer = build(tmp_path, config)
    trainer.train()
    made = [json.loads(line) for line in calls.read_text().splitlines()]
    output = str(tmp_path / "work" / "output")
    pushed = [call for call in made if call[:2] == ["push", output]]
    assert [(strategy, {**options}) for _, _, strategy, options, _ in pushed] == [
        (
            "wait",
            {
                **{"repo_name": "me/it", "output_dir": output, "commit_message": name},
                **{"token": "secret", "private": False, "revision": "dev"},
            },
        )
        for name in ("epoch_1", "epoch_2")
    ]
    assert pushed[0][4] == ["configuration.json", "eval_result.txt", "pytorch_model.bin"]
    assert {call[3]["repo_name"] for call in made if call[0] == "push"} == {"me/it", "me/best"}
    assert [call[1] for call in made if call[0] == "wait"] == [f"{output}_best", output]


def test_the_token_is_neither_logged_nor_uploaded(calls: Path, tmp_path: Path) -> None:
    trainer = build(tmp_path, settings(train__checkpoint={"period": PUSH}))
    trainer.train()
    assert trainer.cfg.train.checkpoint.period.hub_token == "secret"
    texts = [path.read_text() for path in (tmp_path / "work").rglob("*") if path.suffix in (".log", ".json")]
    assert len(texts) == 2
    assert not any("secret" in text for text in texts)


@pytest.mark.parametrize("config", [{}, {"train": {"checkpoint": {"best": None}}}])
def test_a_config_without_uploads_stays_as_it_is(config: dict[str, Any]) -> None:
    assert without_tokens(Config(config)) == config


def test_without_the_package_nothing_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    config = settings(train__checkpoint={"period": {"push_to_hub": True}})
    with pytest.raises(ConfigError) as caught:
        build(tmp_path, config)
    text = str(caught.value)
    assert "train.checkpoint.period.push_to_hub: uploading needs the package modelscope" in text
    assert "pip install 'ms-lightning-adapter[modelscope]'" in text
    assert "train.checkpoint.period.hub_repo_id: push_to_hub does not say where to" in text
    assert not (tmp_path / "work").exists()


@pytest.mark.skipif(not REAL_PYTHON, reason="ADAPTER_REAL_PYTHON names no Python that has modelscope")
def test_the_real_package_takes_what_is_passed() -> None:
    code = (
        "import inspect, modelscope.hub.push_to_hub as hub;"
        "print([*inspect.signature(hub.push_to_hub).parameters, *inspect.signature(hub.wait_for_done).parameters])"
    )
    done = subprocess.run([REAL_PYTHON, "-c", code], capture_output=True, text=True, check=True)
    passed = ["repo_name", "output_dir", "commit_message", "token", "private", "revision", "queue_name"]
    assert [name for name in passed if f"'{name}'" not in done.stdout] == []
