from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from torch import nn

from adapter import ConfigError
from adapter.models.directory import config_in, model_directory
from tests.small_runs import build, settings

NET = {"type": "mlp-classifier", "in_features": 8, "hidden": [4], "num_classes": 4}


@pytest.fixture
def modelscope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stands in for the package, whose other side is a server: makes a folder of the model's name and revision."""
    package = tmp_path / "site" / "modelscope" / "hub"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "snapshot_download.py").write_text(
        "import os, pathlib\n"
        "def snapshot_download(model_id, revision=None):\n"
        "    if model_id == 'me/none': raise OSError('no network')\n"
        f"    folder = os.path.join({str(tmp_path)!r}, model_id, str(revision))\n"
        "    os.makedirs(folder, exist_ok=True)\n"
        f"    pathlib.Path(folder, 'configuration.json').write_text({json.dumps(settings(model=NET))!r})\n"
        "    return folder\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "modelscope"]:
        del sys.modules[name]


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    assert model_directory(tmp_path) == model_directory(str(tmp_path), "v2") == str(tmp_path)
    assert model_directory(nn.Linear(1, 1)) is None
    assert model_directory(None) is None


def test_a_config_is_found_in_it(tmp_path: Path) -> None:
    assert config_in(None) is config_in(str(tmp_path)) is None
    (tmp_path / "configuration.json").touch()
    assert config_in(str(tmp_path)) == str(tmp_path / "configuration.json")


@pytest.mark.usefixtures("modelscope")
def test_a_name_of_the_hub_is_downloaded_in_the_revision_that_is_asked_for(tmp_path: Path) -> None:
    assert model_directory("me/it", "v2") == str(tmp_path / "me" / "it" / "v2")
    trainer = build(tmp_path, cfg_file=None, model="me/it", model_revision="v3", train_dataset=None, eval_dataset=None)
    assert trainer.model_dir == str(tmp_path / "me" / "it" / "v3")
    assert type(trainer.model).__name__ == "MLPClassifier"


@pytest.mark.usefixtures("modelscope")
def test_a_download_that_fails_says_why() -> None:
    with pytest.raises(ConfigError, match="model: 'me/none' cannot be downloaded: no network"):
        model_directory("me/none")


def test_without_the_package_a_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="model: 'me/it' is no local directory, and ModelScope is not"):
        model_directory("me/it")
