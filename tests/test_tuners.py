from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel
from torch import nn
from torch.utils.data import Dataset

from adapter import ConfigError
from adapter.tuners import read_tuners
from tests.parity.golden.cases import TinyNet
from tests.small_runs import Losses, build, losses, same, settings, weights

LORA = {"type": "lora", "target_modules": ["hidden", "head"], "r": 2, "lora_dropout": 0.1}
BASE = {"hidden.base_layer.weight", "hidden.base_layer.bias", "head.base_layer.weight", "head.base_layer.bias"}


def test_only_the_adapters_are_trained(tmp_path: Path) -> None:
    trainer = build(tmp_path, efficient_tuners=LORA)
    before = weights(trainer)
    assert isinstance(trainer.model, TinyNet)
    assert {name for name, p in trainer.model.named_parameters() if not p.requires_grad} == BASE
    trainer.train()
    after = weights(trainer)
    assert {name for name in after if after[name].equal(before[name])} == BASE
    assert set(after) - BASE == {f"{layer}.lora_{half}.default.weight" for layer in ("hidden", "head") for half in "AB"}


def peft_object() -> LoraConfig:
    return LoraConfig(target_modules=["hidden", "head"], r=2, lora_dropout=0.1)


@pytest.mark.parametrize(
    "given",
    [
        peft_object(),
        {**LORA, "type": "LoraConfig"},
        {"peft_type": "LORA", **{name: value for name, value in LORA.items() if name != "type"}},
        {"default": LORA},
        {"default": peft_object()},
    ],
)
def test_every_spelling_is_the_same_run(given: Any, tmp_path: Path) -> None:
    assert losses(tmp_path, efficient_tuners=given) == losses(tmp_path, efficient_tuners=LORA)


def test_the_config_may_ask_for_them_and_the_keyword_wins(tmp_path: Path) -> None:
    hook = {"type": "SwiftHook", "efficient_tuners": LORA}
    config = settings(train__hooks=[hook])
    assert losses(tmp_path, config) == losses(tmp_path, efficient_tuners=LORA) != losses(tmp_path)
    trainer = build(tmp_path, config, efficient_tuners={**LORA, "r": 3})
    assert trainer.model.hidden.lora_A["default"].out_features == 3


def test_several_adapters_act_together(tmp_path: Path) -> None:
    both = {"one": {"type": "lora", "target_modules": ["hidden"]}, "two": {"type": "lora", "target_modules": ["head"]}}
    trainer = build(tmp_path, efficient_tuners=both)
    before = weights(trainer)
    trainer.train()
    moved = {name for name, value in weights(trainer).items() if not value.equal(before[name])}
    assert {"hidden.lora_B.one.weight", "head.lora_B.two.weight"} <= moved


def test_resume_is_exact_with_adapters(tmp_path: Path) -> None:
    config = settings(train__max_epochs=3, train__dataloader__shuffle=True, train__hooks=[{"type": "SwiftHook"}])
    config["train"]["checkpoint"] = {"period": {"interval": 4, "by_epoch": False}}
    whole, rest = Losses(), Losses()
    first = build(tmp_path / "whole", config, efficient_tuners=LORA, callbacks=[whole])
    first.train()
    second = build(tmp_path / "rest", config, efficient_tuners=LORA, callbacks=[rest], seed=7)
    second.train(str(tmp_path / "whole" / "work" / "iter_4.pth"))
    assert rest.seen == whole.seen[4:]
    assert same(weights(second), weights(first))


class Tokens(Dataset):
    """Two kinds of short sentences."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, i: int) -> dict[str, Any]:
        return {"input_ids": (torch.arange(6) * (i % 2 + 1) + i) % 30, "labels": torch.tensor(i % 2)}


def small_transformer() -> nn.Module:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    return transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=30, num_labels=2, **sizes))


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")  # peft's reading of it
def test_a_transformer_is_tuned_and_its_adapter_fits_another_copy_of_it(tmp_path: Path) -> None:
    lora = LoraConfig(target_modules=["query", "value"], r=2, modules_to_save=["classifier"])
    data = {"train_dataset": Tokens(), "eval_dataset": Tokens()}
    config = settings(train__hooks=[{"type": "SwiftHook"}], train__optimizer__lr=0.5)
    trainer = build(tmp_path, config, model=small_transformer(), efficient_tuners=lora, **data)
    trainer.train()
    trained = {name for name, p in trainer.model.named_parameters() if p.requires_grad}
    assert all("lora_" in name or "classifier.modules_to_save" in name for name in trained)

    loaded = PeftModel.from_pretrained(small_transformer(), str(tmp_path / "work" / "adapters" / "default")).eval()
    batch = {"input_ids": torch.stack([Tokens()[i]["input_ids"] for i in range(4)])}
    with torch.no_grad():
        torch.testing.assert_close(loaded(**batch).logits, trainer.model.eval()(**batch).logits)
        assert not loaded(**batch).logits.allclose(small_transformer().eval()(**batch).logits)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"type": "lorra"}, r"efficient_tuners.type: peft has no tuner 'lorra'; .*Did you mean 'lora'"),
        ({"type": "lora", "rank": 3}, r"efficient_tuners.rank: LoraConfig takes no argument 'rank'"),
        ({"a": {"type": "lora", "rank": 3}}, r"efficient_tuners.a.rank: LoraConfig takes no argument"),
        ({"type": "lora", "target_modules": ["absent"]}, r"efficient_tuners: they do not fit TinyNet: .*absent"),
        (object(), r"efficient_tuners: builtins.object is no config of peft; others need the package ms-swift"),
    ],
)
def test_what_cannot_be_is_refused(given: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        build(tmp_path, efficient_tuners=given)
    assert not (tmp_path / "work").exists()


def test_without_peft_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"'lora' needs the package peft\s+fix: pip install 'ms-lightning-adapter"):
        read_tuners(LORA)


@pytest.fixture
def swift(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package in the place of ms-swift, which is too large to install for one call of it."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "swift.py").write_text(
        "class Swift:\n"
        "    @staticmethod\n"
        "    def prepare_model(model, config):\n"
        "        model.head.requires_grad_(config.trains_the_head)\n"
        "        model.save_pretrained = lambda folder: open(folder, 'w').close()\n"
        "        return model\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield
    sys.modules.pop("swift", None)
    shutil.rmtree(tmp_path / "site")


class SwiftConfig:
    """Like a config of ms-swift: nothing that peft knows."""

    trains_the_head = False


@pytest.mark.usefixtures("swift")
def test_configs_of_ms_swift_go_to_it(tmp_path: Path) -> None:
    trainer = build(tmp_path, settings(train__hooks=[{"type": "SwiftHook"}]), efficient_tuners=SwiftConfig())
    assert [p.requires_grad for p in trainer.model.parameters()] == [True, True, False, False]
    trainer.train()
    assert (tmp_path / "work" / "adapters").is_file()
