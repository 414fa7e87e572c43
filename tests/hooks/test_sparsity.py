"""SparsityHook against the numbers of ModelScope 1.40.2's hook of that name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from adapter import build_trainer
from adapter.errors import ConfigError
from adapter.hooks.sparsity import SparsityHook, scheduled_sparsity
from adapter.models.sparse_linear import sparse_layers
from tests.parity.golden import cases
from tests.runs import Recorder

# Settings, other keys of train, losses, zeros of both layers at the end, first row of the second.
RECORDED: list[tuple[dict[str, Any], dict[str, Any], list[float], list[int], list[float]]] = [
    (
        {"weight_rank": 1, "mask_rank": 1, "final_sparsity": 0.9, "frequency": 1},
        {},
        [
            1.3148528337478638,
            1.5233995914459229,
            1.3400936126708984,
            1.319067358970642,
            1.207085371017456,
            1.8804481029510498,
            1.7442288398742676,
            1.4021250009536743,
            1.384790062904358,
            1.5811232328414917,
            1.4061059951782227,
            1.546350121498108,
            1.4729721546173096,
            1.5677616596221924,
            1.1739975214004517,
            1.4454371929168701,
            1.2328006029129028,
            1.5469169616699219,
            1.404105305671692,
            1.2967395782470703,
        ],
        [115, 57],
        [0.0, -0.5043994784355164, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5301417708396912, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ),
    (
        {
            "weight_rank": 3,
            "mask_rank": 2,
            "weight_beta": 0.5,
            "mask_alpha1": 0.3,
            "mask_alpha2": 0.7,
            "initial_sparsity": 0.2,
            "final_sparsity": 0.7,
            "frequency": 3,
            "initial_warmup": 0.2,
            "final_warmup": 0.25,
        },
        {
            "optimizer": {
                "type": "AdamW",
                "lr": 0.01,
                "options": {"cumulative_iters": 2, "grad_clip": {"max_norm": 0.5}},
            }
        },
        [
            0.7383714914321899,
            0.742232084274292,
            0.6153631210327148,
            0.6767613291740417,
            0.7042377591133118,
            0.7570769190788269,
            0.7153074741363525,
            0.7499473690986633,
            0.7654694318771362,
            0.6617639660835266,
            0.7024437785148621,
            0.7181342840194702,
            0.6989200115203857,
            0.7531310319900513,
            0.7184386849403381,
            0.6414563655853271,
            0.741351306438446,
            0.5968303680419922,
            0.6570258140563965,
            0.778549075126648,
        ],
        [89, 44],
        [
            0.0,
            -0.21144843101501465,
            -0.24846500158309937,
            0.0,
            0.0,
            0.0,
            0.0,
            0.24358828365802765,
            0.2191600203514099,
            0.0,
            0.0,
            -0.1903669238090515,
            -0.2508513033390045,
            -0.21746960282325745,
            0.0,
            0.0,
        ],
    ),
]


def trainer_of(folder: Path, config: dict[str, Any], hooks: Any = (), **train: Any):
    """A trainer of two epochs of ten iterations on TinyNet, and a list that its losses go to."""
    loss = Recorder("after_train_iter", lambda trainer: trainer.train_outputs["loss"].item())
    sparsity = {"type": "SparsityHook", "pruning_method": "pst", "config": config}
    trainer = build_trainer(
        "trainer",
        {
            "cfg_file": cases.base(epochs=2, train={"hooks": [sparsity, *hooks], **train}),
            "model": cases.TinyNet(),
            "train_dataset": cases.MapData(38),
            "eval_dataset": cases.MapData(18),
            "device": "cpu",
            "work_dir": str(folder),
            "callbacks": [loss],
        },
    )
    return trainer, loss.seen


@pytest.mark.parametrize(("config", "train", "losses", "zeros", "row"), RECORDED)
def test_numbers(config, train, losses, zeros, row, tmp_path):
    trainer, seen = trainer_of(tmp_path, config, **train)
    trainer.train()
    assert seen == losses
    layers = [module for module in trainer.model.modules() if isinstance(module, nn.Linear)]
    assert [type(layer) for layer in layers] == [nn.Linear, nn.Linear]
    assert [int((layer.weight == 0).sum()) for layer in layers] == zeros
    assert trainer.model.head.weight[0].tolist() == row


def test_the_export_is_dense_and_can_be_evaluated(tmp_path):
    trainer, _ = trainer_of(tmp_path, {"final_sparsity": 0.5})
    trainer.train()
    saved = torch.load(tmp_path / "compress_model.pth", weights_only=True)
    assert saved["state_dict"].keys() == cases.TinyNet().state_dict().keys()
    assert all(parameter.requires_grad for parameter in trainer.model.parameters())
    fresh, _ = trainer_of(tmp_path / "fresh", {})
    assert fresh.evaluate(str(tmp_path / "compress_model.pth"), strict=True) == trainer.evaluate()
    assert all(map(torch.equal, fresh.model.state_dict().values(), trainer.model.state_dict().values()))


def test_every_checkpoint_goes_on_as_if_never_stopped(tmp_path):
    saver = {"type": "CheckpointHook", "by_epoch": False, "interval": 5}
    config = {"weight_rank": 2, "mask_rank": 2, "final_sparsity": 0.8, "frequency": 2}
    whole, losses = trainer_of(tmp_path / "whole", config, [saver], optimizer={"type": "AdamW", "lr": 0.01})
    whole.train()
    for done in (5, 10, 15, 20):
        again, seen = trainer_of(tmp_path / f"{done}", config, [saver], optimizer={"type": "AdamW", "lr": 0.01})
        again.train(str(tmp_path / "whole" / f"iter_{done}"))
        assert seen == losses[done:]
        assert all(map(torch.equal, whole.model.state_dict().values(), again.model.state_dict().values()))


def test_only_the_modules_that_are_named(tmp_path):
    found = Recorder("before_run", lambda trainer: [type(m).__name__ for m in trainer.model.modules()])
    trainer, _ = trainer_of(tmp_path, {"compress_module": ["head"], "final_sparsity": 0.5})
    trainer.register_hook(found)
    trainer.train()
    assert found.seen == [["TinyNet", "Linear", "Dropout", "SparseLinear"]]
    assert int((trainer.model.hidden.weight == 0).sum()) == 0
    assert int((trainer.model.head.weight == 0).sum()) == 32


@pytest.mark.parametrize("name", ["haed", "hea", "dropout"])
def test_a_name_that_prunes_nothing_is_refused(tmp_path, name):
    trainer, _ = trainer_of(tmp_path, {"compress_module": ["hidden", name]})
    with pytest.raises(ConfigError, match=f"no nn.Linear of TinyNet is or lies in '{name}'; allowed: .*hidden, head"):
        trainer.train()


def test_a_model_without_linear_layers_is_refused(tmp_path):
    trainer, _ = trainer_of(tmp_path, {})
    trainer.model.hidden, trainer.model.head = nn.Bilinear(8, 8, 16), nn.Conv1d(16, 4, 1)
    with pytest.raises(ConfigError, match=r"TinyNet has no nn\.Linear to prune"):
        trainer.train()


def test_it_trains_the_updates_at_the_place_of_the_weight(tmp_path):
    groups = {"type": "SGD", "lr": 0.1, "param_groups": [{"regex": "head", "lr": 0.5}]}
    shapes = Recorder(
        "before_run",
        lambda trainer: [(g["lr"], [tuple(p.shape) for p in g["params"]]) for g in trainer.optimizer.param_groups],
    )
    trainer, _ = trainer_of(tmp_path, {"weight_rank": 1, "mask_rank": 2}, optimizer=groups)
    trainer.register_hook(shapes)
    trainer.train()
    assert shapes.seen[0] == [
        (0.1, [(16, 1), (1, 8), (16, 2), (2, 8), (16,), (8,), (16,)]),
        (0.5, [(4, 1), (1, 16), (4, 2), (2, 16), (4,), (16,), (4,)]),
    ]
    after = [[id(p) for p in group["params"]] for group in trainer.optimizer.param_groups]
    assert after == [[id(p) for p in layer.parameters()] for layer in (trainer.model.hidden, trainer.model.head)]
    assert not sparse_layers(trainer.model)


@pytest.mark.parametrize(
    ("settings", "want"),
    [
        # (total, frequency, warmups, sparsities) -> that of ModelScope in iterations 0, 2, 3, 5, 8, 11, 14
        ((20, 1, 0.1, 0.3, 0.0, 0.9), [0, 0, 0.20677083, 0.5203125, 0.7875, 0.8859375, 0.9]),
        ((20, 3, 0.1, 0.3, 0.1, 0.9), [0.1, 0.1, 0.1, 0.5625, 0.8, 0.8875, 0.9]),
        ((17, 2, 0.15, 0.2, 0.0, 0.9), [0, 0, 0, 0.405574, 0.666265, 0.881074, 0.9]),
        ((15, 1, 0.1, 0.3, 0.0, 0.9), [0, 0, 0.267901, 0.633333, 0.866667, 0.9, 0.9]),
        ((10, 1, 0.0, 0.0, 0.2, 0.5), [0.2, 0.3464, 0.3971, 0.4625, 0.4976, 0.5, 0.5]),
    ],
)
def test_the_schedule(settings, want):
    assert [scheduled_sparsity(i, *settings) for i in (0, 2, 3, 5, 8, 11, 14)] == pytest.approx(want, abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"pruning_method": "psd"}, "pruning_method: found 'psd'; allowed: pst"),
        ({"config": {"final_sparsty": 0.5}}, r"config\.final_sparsty: pst takes no such key.*"),
        ({"config": {"final_sparsity": 90}}, "config.final_sparsity: found 90; allowed: a fraction"),
        ({"config": {"weight_rank": 0}}, "config.weight_rank: found 0; allowed: an integer of 1 or more"),
        ({"config": {"frequency": "often"}}, "found 'often'; allowed: a number"),
        ({"config": {"initial_warmup": 0.8}}, "longer than the run"),
        ({"config": {"compress_module": 3}}, "a list of module names"),
    ],
)
def test_what_is_wrong_is_refused(arguments, text):
    with pytest.raises(ConfigError, match=text):
        SparsityHook(**{"pruning_method": "pst", **arguments})
