from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel
from torch.utils.data import Dataset

from adapter import ConfigError
from adapter.tuners import read_tuners
from tests.parity.golden.cases import TinyNet
from tests.small_runs import Losses, all_logits, build, losses, same, settings, weights
from tests.tiny_models import small_transformer

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


ALONE = {**LORA, "save_trainable_only": True}


@pytest.mark.parametrize("section", ["tuners", "efficient_tuners"])
def test_a_section_of_the_config_asks_for_them(section: str, tmp_path: Path) -> None:
    config = settings(**{section: LORA})
    assert losses(tmp_path, config) == losses(tmp_path, efficient_tuners=LORA)
    named = settings(**{section: {"mine": {**LORA, "type": "LoraConfig"}}})
    assert set(build(tmp_path, named).tuners) == {"mine"}
    assert build(tmp_path, config, efficient_tuners={**LORA, "r": 3}).tuners["default"].r == 3


@pytest.mark.parametrize("saver", [False, True])
def test_checkpoints_of_the_trained_weights_alone_resume_exactly(saver: bool, tmp_path: Path) -> None:
    config = settings(train__max_epochs=3, tuners=LORA if saver else ALONE, train__dataloader__shuffle=True)
    config["train"]["checkpoint"] = {"period": {"interval": 4, "by_epoch": False, "save_trainable_only": saver}}
    whole, rest = Losses(), Losses()
    first = build(tmp_path / "whole", config, callbacks=[whole])
    first.train()
    pair = tmp_path / "whole" / "work" / "iter_4.pth"
    assert set(torch.load(pair, weights_only=True)) == set(weights(first)) - BASE
    second = build(tmp_path / "rest", config, callbacks=[rest], seed=7)
    second.train(str(pair))
    assert rest.seen == whole.seen[4:]
    assert same(weights(second), weights(first))
    second.save_checkpoint(tmp_path / "mine")
    assert set(torch.load(tmp_path / "mine.pth", weights_only=True)) == set(weights(first)) - BASE


def test_they_are_evaluated_and_restored_like_whole_ones(tmp_path: Path) -> None:
    config = settings(evaluation__period={"interval": 1}, tuners=ALONE)
    config["train"]["checkpoint"] = {"best": {"metric_key": "accuracy", "restore_best": True}}
    trainer = build(tmp_path, config)
    trainer.train()
    best = next((tmp_path / "work").glob("best_*[0-9].pth"))
    assert build(tmp_path, config).evaluate(str(best), strict=True) == trainer.evaluate()


def test_the_output_folder_has_the_adapter_and_no_half_of_a_model(tmp_path: Path) -> None:
    trainer = build(tmp_path, settings(tuners=ALONE, train__optimizer__lr=0.5))
    trainer.train()
    output = tmp_path / "work" / "output"
    assert not (output / "pytorch_model.bin").exists()
    loaded = PeftModel.from_pretrained(TinyNet(), str(output)).eval()
    with torch.no_grad():
        assert all_logits(loaded).equal(all_logits(trainer.model.eval()))


@pytest.mark.parametrize(
    "tuners",
    [
        {**ALONE, "target_modules": ["hidden"], "modules_to_save": ["head"]},
        {"type": "ia3", "target_modules": ["hidden", "head"], "feedforward_modules": ["head"]},
        {"one": {**LORA, "target_modules": ["hidden"]}, "two": LORA},
    ],
)
def test_merged_weights_fit_the_model_without_adapters(tuners: dict[str, Any], tmp_path: Path) -> None:
    trainer = build(tmp_path, settings(tuners={**tuners, "merge": True}, train__optimizer__lr=0.5))
    trainer.train()
    plain = TinyNet().eval()
    before = all_logits(plain)
    plain.load_state_dict(torch.load(tmp_path / "work" / "output" / "pytorch_model.bin", weights_only=True))
    with torch.no_grad():
        torch.testing.assert_close(all_logits(plain), all_logits(trainer.model.eval()))
    assert not all_logits(plain).allclose(before)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"tuners": {**LORA, "rank": 3}}, r"tuners\.rank: LoraConfig takes no argument 'rank'"),
        ({"tuners": LORA, "efficient_tuners": LORA}, r"efficient_tuners: tuners is given, too"),
        ({"tuners": {"merge": True}}, r"tuners\.merge: there are no adapters to merge"),
        (
            {"tuners": {"type": "prefix_tuning", "num_virtual_tokens": 2, "merge": True}},
            r"tuners\.merge: 'default' \(PrefixTuningConfig\) adds to what goes through",
        ),
        ({"tuners": {**LORA, "merge": "yes"}}, r"tuners\.merge: found \"yes\""),
    ],
)
def test_sections_that_cannot_be(changes: dict[str, Any], text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        build(tmp_path, settings(**changes))
    assert not (tmp_path / "work").exists()


class Tokens(Dataset):
    """Two kinds of short sentences."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, i: int) -> dict[str, Any]:
        return {"input_ids": (torch.arange(6) * (i % 2 + 1) + i) % 30, "labels": torch.tensor(i % 2)}


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")  # peft's reading of it
def test_a_transformer_is_tuned_and_its_adapter_fits_another_copy_of_it(tmp_path: Path) -> None:
    lora = LoraConfig(target_modules=["query", "value"], r=2, modules_to_save=["classifier"])
    data = {"train_dataset": Tokens(), "eval_dataset": Tokens()}
    config = settings(train__hooks=[{"type": "SwiftHook"}], train__optimizer__lr=0.5)
    trainer = build(tmp_path, config, model=small_transformer(2), efficient_tuners=lora, **data)
    trainer.train()
    trained = {name for name, p in trainer.model.named_parameters() if p.requires_grad}
    assert all("lora_" in name or "classifier.modules_to_save" in name for name in trained)

    loaded = PeftModel.from_pretrained(small_transformer(2), str(tmp_path / "work" / "adapters" / "default")).eval()
    batch = {"input_ids": torch.stack([Tokens()[i]["input_ids"] for i in range(4)])}
    with torch.no_grad():
        torch.testing.assert_close(loaded(**batch).logits, trainer.model.eval()(**batch).logits)
        assert not loaded(**batch).logits.allclose(small_transformer(2).eval()(**batch).logits)


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


def test_the_key_that_describes_adapters_is_the_one_that_is_named(tmp_path: Path) -> None:
    config = {**settings(), "tuners": {"type": "lora", "target_modules": ["absent"]}}
    with pytest.raises(ConfigError, match=r"  tuners: they do not fit TinyNet"):
        build(tmp_path, config)


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
