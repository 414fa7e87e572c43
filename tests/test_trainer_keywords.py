"""What each argument of the trainer's constructor does."""

from __future__ import annotations

import argparse
import inspect
import json
from pathlib import Path
from typing import Any

import datasets
import pytest
import torch
from torch import nn
from torch.utils.data import SequentialSampler, default_collate

from adapter import Config, ConfigError, EpochBasedTrainer
from adapter.checkpoint import files
from tests.parity.golden.cases import MapData, StreamData, TinyNet, sample
from tests.small_runs import BATCHES, at, build, losses, same, settings, weights

DOCUMENTED = (
    *("model", "cfg_file", "cfg_modify_fn", "arg_parse_fn", "data_collator", "train_dataset", "eval_dataset"),
    *("preprocessor", "optimizers", "model_revision", "seed", "callbacks", "samplers", "efficient_tuners", "kwargs"),
)  # fmt: skip
EVALUATE = {"evaluation__period": {"interval": 1}}


def test_arguments_come_in_the_documented_order_with_the_documented_defaults() -> None:
    parameters = inspect.signature(EpochBasedTrainer).parameters
    assert tuple(parameters) == DOCUMENTED
    assert parameters["seed"].default == 42
    assert parameters["optimizers"].default == (None, None)


# model, cfg_file


def test_a_model_object_is_the_model(tmp_path: Path) -> None:
    model = TinyNet()
    assert build(tmp_path, model=model).model is model


def model_directory(folder: Path) -> Path:
    """Config, weights, a companion file and a hidden one."""
    folder.mkdir()
    config = settings(model={"type": "mlp-classifier", "in_features": 8, "hidden": [4], "num_classes": 4})
    (folder / "configuration.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("a b c")
    (folder / ".cache").write_text("x")
    return folder


class Columns(torch.utils.data.Dataset):
    """The names that mlp-classifier's forward takes."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, i: int) -> dict[str, Any]:
        one = sample(i)
        return {"features": one["feat"], "label": one["labels"]}


def test_a_model_directory_gives_config_weights_and_companions(tmp_path: Path) -> None:
    directory = model_directory(tmp_path / "pretrained")
    first = build(tmp_path, cfg_file=None, model=str(directory), train_dataset=Columns())
    changed = {name: value + 1 for name, value in first.model.state_dict().items()}
    files.save(changed, directory / "pytorch_model.bin")

    trainer = build(tmp_path, cfg_file=None, model=str(directory), train_dataset=Columns())
    assert same(weights(trainer), changed)
    trainer.train()
    output = sorted(path.name for path in (tmp_path / "work" / "output").iterdir())
    assert output == ["configuration.json", "eval_result.txt", "pytorch_model.bin", "vocab.txt"]


def test_a_config_in_a_model_directory_begins_with_its_weights(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = model_directory(tmp_path / "pretrained")
    config = directory / "configuration.json"
    first = build(tmp_path, cfg_file=config, model=None, train_dataset=Columns())
    changed = {name: value + 1 for name, value in first.model.state_dict().items()}
    files.save(changed, directory / "pytorch_model.bin")
    assert same(weights(build(tmp_path, cfg_file=config, model=None, train_dataset=Columns())), changed)
    assert f"the model begins with the weights of {directory / 'pytorch_model.bin'}" in caplog.text

    name, value = changed.popitem()
    files.save({**changed, "other": value}, directory / "pytorch_model.bin")
    build(tmp_path, cfg_file=config, model=None, train_dataset=Columns())
    assert f"1 parameters are missing from the checkpoint: {name}" in caplog.text
    assert "1 parameters are not in the model: other" in caplog.text
    files.save({**changed, name: value[:1]}, directory / "pytorch_model.bin")
    with pytest.raises(ConfigError, match=r"pytorch_model\.bin: the weights do not fit the model: .*size"):
        build(tmp_path, cfg_file=config, model=None, train_dataset=Columns())


def test_a_model_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="model: 'damo/absent' is no local directory"):
        build(tmp_path, model="damo/absent")


def test_no_model_builds_the_configs(tmp_path: Path) -> None:
    config = settings(model={"type": "mlp-classifier", "in_features": 8, "hidden": [5], "num_classes": 4})
    trainer = build(tmp_path, config, model=None)
    assert [tuple(p.shape) for p in trainer.model.parameters()] == [(5, 8), (5,), (4, 5), (4,)]


@pytest.mark.parametrize("kind", ["path", "text path", "config", "mapping"])
def test_a_config_is_a_file_or_one_that_was_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "configuration.json"
    path.write_text(json.dumps(settings(note=7)))
    given = {"path": path, "text path": str(path), "config": Config.from_file(path), "mapping": settings(note=7)}[kind]
    assert build(tmp_path, given).cfg.note == 7


def test_a_config_given_as_an_object_is_left_as_it_is(tmp_path: Path) -> None:
    config = Config(settings())
    before = config.to_dict()
    build(tmp_path, config).train()
    assert config.to_dict() == before


def test_a_model_object_needs_a_config(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cfg_file is needed"):
        build(tmp_path, cfg_file=None)


# cfg_modify_fn, arg_parse_fn


def in_place(config: Config) -> None:
    config.train.optimizer.lr = 0.25


def anew(config: Config) -> Config:
    return Config({**config.to_dict(), "train": {**config.train.to_dict(), "optimizer": {"type": "SGD", "lr": 0.25}}})


@pytest.mark.parametrize("change", [in_place, anew])
def test_cfg_modify_fn_changes_the_config(change: Any, tmp_path: Path) -> None:
    assert build(tmp_path, cfg_modify_fn=change).plan.optimizer.args["lr"] == 0.25


def test_cfg_modify_fn_sees_the_default_hooks_and_may_drop_them(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def drop(config: Config) -> None:
        seen.append([hook["type"] for hook in config.train.hooks])
        config.train.hooks = [{"type": "IterTimerHook"}]

    trainer = build(tmp_path, cfg_modify_fn=drop)
    assert seen == [["CheckpointHook", "TextLoggerHook", "IterTimerHook"]]
    assert [type(hook).__name__ for hook in trainer.hooks] == ["IterTimerHook"]


def test_arg_parse_fn_gets_the_config_in_words_and_gives_args(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--train.max-epochs", type=int, dest="epochs")
    parser.add_argument("--task")
    args, _ = build(tmp_path, arg_parse_fn=parser.parse_known_args, max_epochs=3).args
    assert (args.epochs, args.task) == (1, "image-classification")
    assert build(tmp_path).args is None


# data


def doubled(samples: list[Any]) -> Any:
    batch = default_collate(samples)
    return {**batch, "feat": 2 * batch["feat"]}


def first_batches(trainer: EpochBasedTrainer) -> tuple[torch.Tensor, torch.Tensor]:
    """Features of the first training and the first evaluation batch."""
    return next(iter(trainer.get_train_dataloader()))["feat"], next(iter(trainer.get_eval_data_loader()))["feat"]


@pytest.mark.parametrize(
    ("collator", "factors"),
    [(None, (1, 1)), (doubled, (2, 2)), ({"train": doubled}, (2, 1)), ({"val": doubled}, (1, 2))],
)
def test_data_collator_is_for_both_or_for_one(collator: Any, factors: tuple[int, int], tmp_path: Path) -> None:
    plain = default_collate([sample(i) for i in range(4)])["feat"]
    train, val = first_batches(build(tmp_path, data_collator=collator))
    assert train.equal(factors[0] * plain)
    assert val.equal(factors[1] * plain)


class Raised:
    """A preprocessor; module level, as one that is pickled has to be."""

    def __init__(self, by: float) -> None:
        self.by = by

    def __call__(self, one: dict[str, Any]) -> dict[str, Any]:
        return {**one, "feat": one["feat"] + self.by}


@pytest.mark.parametrize(
    ("preprocessor", "added"),
    [
        (None, (0, 0)),
        (Raised(1), (1, 1)),
        ({"train": Raised(1), "val": Raised(2)}, (1, 2)),
        ({"val": Raised(1)}, (0, 1)),
    ],
)
def test_preprocessor_is_for_both_or_for_one(preprocessor: Any, added: tuple[int, int], tmp_path: Path) -> None:
    plain = default_collate([sample(i) for i in range(4)])["feat"]
    train, val = first_batches(build(tmp_path, preprocessor=preprocessor))
    assert train.equal(plain + added[0])
    assert val.equal(plain + added[1])


def test_a_configs_preprocessor_is_applied_to_data_given_as_objects_if_it_is_known(tmp_path: Path) -> None:
    plain = default_collate([sample(i) for i in range(4)])["feat"]
    config = settings(preprocessor={"train": {"type": f"{__name__}.Raised", "by": 1}})
    train, val = first_batches(build(tmp_path, config))
    assert train.equal(plain + 1)
    assert val.equal(plain)
    assert first_batches(build(tmp_path, settings(preprocessor={"type": "of-the-hub"})))[0].equal(plain)


def test_a_hugging_face_data_set_is_used_as_it_is(tmp_path: Path) -> None:
    rows = datasets.Dataset.from_list([{name: value.tolist() for name, value in sample(i).items()} for i in range(12)])

    def as_tensors(row: dict[str, Any]) -> dict[str, torch.Tensor]:
        return {name: torch.tensor(value) for name, value in row.items()}

    assert losses(tmp_path, train_dataset=rows, preprocessor=as_tensors) == losses(tmp_path)
    assert losses(tmp_path, train_dataset=rows.with_format("torch")) == losses(tmp_path)


def test_a_list_of_data_sets_is_one_after_the_other(tmp_path: Path) -> None:
    trainer = build(tmp_path, train_dataset=[MapData(5), MapData(7)], eval_dataset=[MapData(2), MapData(1)])
    assert (len(trainer.train_dataset), len(trainer.eval_dataset)) == (12, 3)


def test_without_data_sets_the_configs_are_used(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b,label\n" + "1.0,2.0,0\n" * 6)
    source = {"type": "csv", "file": str(tmp_path / "rows.csv"), "features": ["a", "b"], "label": "label"}
    config = settings(dataset={"train": source, "val": source}, **EVALUATE)
    trainer = build(tmp_path, config, train_dataset=None, eval_dataset=None)
    assert (len(trainer.train_dataset), len(trainer.eval_dataset)) == (6, 6)


def test_training_without_data_is_refused_by_keyword_and_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"dataset\.train: there is no data set\s+fix: pass train_dataset="):
        build(tmp_path, train_dataset=None).train()


class Backwards(torch.utils.data.Sampler[int]):
    def __init__(self, size: int) -> None:
        self.size = size

    def __iter__(self) -> Any:
        return iter(range(self.size - 1, -1, -1))

    def __len__(self) -> int:
        return self.size


def test_samplers_set_the_order_of_one_or_both(tmp_path: Path) -> None:
    last = default_collate([sample(i) for i in (5, 4, 3, 2)])["feat"]
    first = default_collate([sample(i) for i in range(4)])["feat"]
    by_mode = {"train": SequentialSampler(range(12)), "val": Backwards(6)}
    train, val = first_batches(build(tmp_path, samplers=by_mode))
    assert train.equal(first)
    assert val.equal(last)
    train, val = first_batches(build(tmp_path, samplers=Backwards(6)))
    assert train.equal(last)
    assert val.equal(last)


def test_remove_unused_data_drops_what_forward_does_not_take(tmp_path: Path) -> None:
    class More(MapData):
        def __getitem__(self, i: int) -> dict[str, Any]:
            return {**super().__getitem__(i), "name": f"sample {i}"}

    with pytest.raises(ConfigError, match="a batch has feat, labels, name, which TinyNet"):
        build(tmp_path, train_dataset=More(12)).train()
    assert len(losses(tmp_path, train_dataset=More(12), remove_unused_data=True)) == BATCHES


# optimizers


def sgd_pair(model: nn.Module) -> tuple[Any, Any]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    return optimizer, torch.optim.lr_scheduler.ConstantLR(optimizer)


def test_optimizers_are_used_instead_of_the_configs(tmp_path: Path) -> None:
    model = TinyNet()
    pair = sgd_pair(model)
    trainer = build(tmp_path, settings(train__optimizer=None, train__lr_scheduler=None), model=model, optimizers=pair)
    before = weights(trainer)
    trainer.train()
    assert (trainer.optimizer, trainer.lr_scheduler) == pair
    assert not same(weights(trainer), before)


def test_of_two_optimizers_none_is_built_from_the_config(tmp_path: Path) -> None:
    model = TinyNet()
    optimizer = sgd_pair(model)[0]
    trainer = build(tmp_path, model=model, optimizers=(optimizer, None))
    trainer.train()
    assert trainer.optimizer is optimizer
    assert isinstance(trainer.lr_scheduler, torch.optim.lr_scheduler.StepLR)
    assert trainer.lr_scheduler.optimizer is optimizer


def test_of_two_optimizers_a_scheduler_alone_steps_its_own(tmp_path: Path) -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.5)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
    optimizer.step()  # which a schedule waits for
    trainer = build(tmp_path, optimizers=(None, scheduler), max_epochs=2)
    trainer.train()
    assert trainer.lr_scheduler is scheduler
    assert trainer.optimizer is not scheduler.optimizer
    assert trainer.optimizer.param_groups[0]["lr"] == 0.1
    assert scheduler.last_epoch == 2


def test_options_of_the_config_belong_to_its_own_optimizer(tmp_path: Path) -> None:
    model = TinyNet()
    config = settings(train__optimizer__options={"cumulative_iters": 3})
    assert build(tmp_path, config, optimizers=sgd_pair(model), model=model).train() is None
    cumulative: list[int] = []
    look = at("after_run", lambda trainer: cumulative.append(trainer.cumulative_iters))
    build(tmp_path, config, callbacks=[look]).train()
    build(tmp_path, config, optimizers=sgd_pair(model), model=model, callbacks=[look]).train()
    assert cumulative == [3, 1]


# seed


def test_the_seed_decides_order_and_initial_weights(tmp_path: Path) -> None:
    shuffled = settings(train__dataloader__shuffle=True)
    runs = [losses(tmp_path, shuffled, seed=seed) for seed in (42, 42, 7)]
    assert runs[0] == runs[1] != runs[2]
    assert losses(tmp_path, shuffled) == runs[0]
    config = settings(model={"type": "mlp-classifier", "in_features": 8, "hidden": [5], "num_classes": 4})
    models = [weights(build(tmp_path, config, model=None, seed=seed)) for seed in (1, 1, 2)]
    assert same(models[0], models[1])
    assert not same(models[0], models[2])


@pytest.mark.parametrize("seed", [None, -1, 2**32, 1.5, True, "42"])
def test_a_seed_that_is_none_is_refused(seed: Any, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"seed: found {seed!r}; allowed: an integer"):
        build(tmp_path, seed=seed)


# the keywords after those


def test_max_epochs_and_iterations_win_over_the_file(tmp_path: Path) -> None:
    config = settings(train__max_epochs=5, train__train_iters_per_epoch=3)
    trainer = build(tmp_path, config, max_epochs=2, train_iters_per_epoch=2)
    trainer.train()
    assert (trainer.epoch, trainer.iter, trainer.max_epochs, trainer.max_iters) == (2, 4, 2, 4)


def test_val_iters_per_epoch_cuts_an_evaluation_short(tmp_path: Path) -> None:
    seen: list[int] = []
    config = settings(evaluation__val_iters_per_epoch=2)
    trainer = build(tmp_path, config, val_iters_per_epoch=1)
    trainer.evaluate(saving_fn=lambda inputs, outputs: seen.append(len(inputs["feat"])))
    assert seen == [4]


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"val_iters_per_epoch": 1}, ["train.train_iters_per_epoch"]),
        ({"train_iters_per_epoch": 2}, ["evaluation.val_iters_per_epoch"]),
        ({}, ["train.train_iters_per_epoch", "evaluation.val_iters_per_epoch"]),
    ],
)
def test_data_without_length_need_a_number_of_iterations(
    given: dict[str, int], missing: list[str], tmp_path: Path
) -> None:
    streams = {"train_dataset": StreamData(12), "eval_dataset": [StreamData(3), StreamData(3)]}
    with pytest.raises(ConfigError, match=r"not given, and the data set \(\w+\) has no length") as caught:
        build(tmp_path, settings(**EVALUATE), **streams, **given)
    assert [problem.key for problem in caught.value.problems] == missing
    assert not (tmp_path / "work").exists()


def test_an_evaluation_on_its_own_goes_to_the_end_of_data_without_length(tmp_path: Path) -> None:
    seen: list[int] = []
    trainer = build(tmp_path, eval_dataset=StreamData(6))
    trainer.evaluate(saving_fn=lambda inputs, outputs: seen.append(len(inputs["feat"])))
    assert seen == [4, 2]


def test_work_dir_is_written_back_into_every_section_that_names_a_folder(tmp_path: Path) -> None:
    config = settings(
        train__work_dir="from_file",
        train__logging={"out_dir": "logs"},
        train__checkpoint={"period": {"save_dir": "kept"}, "best": {"metric_key": "accuracy", "save_dir": "best"}},
        **EVALUATE,
    )
    train = build(tmp_path, config).cfg.train
    work = str(tmp_path / "work")
    folders = (train.checkpoint.period.save_dir, train.checkpoint.best.save_dir, train.logging.out_dir)
    assert (train.work_dir, *folders) == (work,) * 4


def test_a_work_dir_of_the_file_leaves_other_folders_alone(tmp_path: Path) -> None:
    work, logs = str(tmp_path / "work"), str(tmp_path / "logs")
    config = settings(train__work_dir=work, train__logging={"out_dir": logs})
    trainer = build(tmp_path, config, work_dir=None)
    train = trainer.cfg.train
    assert (trainer.work_dir, train.logging.out_dir, train.checkpoint.period.save_dir) == (work, logs, work)


def test_without_a_work_dir_it_is_below_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    build(tmp_path, work_dir=None).train()
    assert (tmp_path / "work_dir" / "epoch_1.pth").is_file()


def test_device_is_where_the_model_is(tmp_path: Path) -> None:
    where: list[str] = []
    build(
        tmp_path, device="cpu", callbacks=[at("before_run", lambda trainer: where.append(trainer.device.type))]
    ).train()
    assert where == ["cpu"]
    with pytest.raises(Exception, match="abacus"):
        build(tmp_path, device="abacus").train()


def test_compile_runs_the_model_compiled(tmp_path: Path) -> None:
    compiled: list[str] = []

    def backend(graph: Any, inputs: Any) -> Any:
        compiled.append("graph")
        return graph.forward

    plain = losses(tmp_path)
    assert losses(tmp_path, compile=True, compile_options={"backend": backend}) == plain
    assert compiled
    compiled.clear()
    losses(tmp_path, compile_options={"backend": backend})
    assert not compiled


def test_trust_remote_code_opens_python_configs(tmp_path: Path) -> None:
    path = tmp_path / "config.py"
    path.write_text("\n".join(f"{key} = {value!r}" for key, value in settings().items()))
    with pytest.raises(ConfigError, match="trust"):
        build(tmp_path, path)
    assert build(tmp_path, path, trust_remote_code=True).cfg.task == "image-classification"


def test_cfg_options_are_merged_by_dotted_key(tmp_path: Path) -> None:
    options = {"train.optimizer.lr": 0.75, "train.hooks.CheckpointHook.interval": 4, "my.own.key": [1]}
    trainer = build(tmp_path, cfg_options=options)
    assert trainer.plan.optimizer.args["lr"] == 0.75
    assert trainer.cfg.train.checkpoint.period.interval == 4
    assert trainer.cfg.my.own.key == [1]


def test_trainer_args_reach_lightning_and_win(tmp_path: Path) -> None:
    assert len(losses(tmp_path, trainer_args={"limit_train_batches": 1})) == 1
    assert len(losses(tmp_path, settings(train__max_epochs=2), trainer_args={"max_epochs": 1})) == BATCHES


@pytest.mark.parametrize(
    ("keyword", "value", "text"),
    [
        ("max_epochs", "2", 'max_epochs: found "2"; allowed: an integer of 1 or more'),
        ("max_epochs", 0, "max_epochs: found 0; allowed: an integer of 1 or more"),
        ("train_iters_per_epoch", 1.5, "train_iters_per_epoch: found 1.5; allowed: an integer of 1 or more"),
        ("val_iters_per_epoch", -1, "val_iters_per_epoch: found -1; allowed: an integer of 1 or more"),
        ("work_dir", 7, "work_dir: found 7; allowed: a string"),
    ],
)
def test_a_keyword_of_the_wrong_kind_is_refused(keyword: str, value: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        build(tmp_path, **{keyword: value})
    assert text in str(caught.value)


def test_a_keyword_that_nobody_reads_is_warned_about(tmp_path: Path) -> None:
    build(tmp_path, max_epoch=3).evaluate()
    log = next((tmp_path / "work").glob("*.log")).read_text()
    assert (
        "WARNING - keyword 'max_epoch' is not known to the trainer and has no effect; did you mean 'max_epochs'?" in log
    )


@pytest.mark.parametrize("keyword", ["preprocessor", "data_collator", "samplers"])
def test_a_mode_that_does_not_exist_is_refused(tmp_path, keyword):
    with pytest.raises(ConfigError, match=rf"{keyword}\.trian: no such mode; allowed: train, val"):
        build(tmp_path, **{keyword: {"trian": default_collate}})
