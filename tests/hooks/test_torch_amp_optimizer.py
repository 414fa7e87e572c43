from __future__ import annotations

import pytest

from adapter.errors import ConfigError
from adapter.hooks.optimizer import OptimizerHook
from adapter.hooks.torch_amp_optimizer import TorchAMPOptimizerHook
from tests.runs import Recorder, make, messages, run, weights_of

OPTIONS = {"cumulative_iters": 2, "grad_clip": {"max_norm": 0.05}}
OPTIMIZER = {"type": "SGD", "lr": 0.1, "options": OPTIONS}
AMP = {"type": "TorchAMPOptimizerHook", "loss_scale": 128.0}


@pytest.mark.parametrize(
    ("train", "keywords"),
    [
        ({"optimizer": OPTIMIZER}, {"use_fp16": True}),
        ({"optimizer": OPTIMIZER, "use_fp16": True}, {}),
        ({"optimizer": OPTIMIZER, "optimizer_hook": AMP}, {}),
        ({"optimizer_hook": {**AMP, **OPTIONS}}, {}),
        ({"optimizer": OPTIMIZER, "optimizer_hook": AMP, "use_fp16": True}, {"use_fp16": True}),
        ({"optimizer": OPTIMIZER, "optimizer_hook": {"type": "ApexAMPOptimizerHook", "opt_level": "O2"}}, {}),
    ],
)
def test_without_a_gpu_it_says_so_and_trains_in_32_bits(train, keywords, tmp_path):
    plain = run(tmp_path / "plain", train={"optimizer": OPTIMIZER})
    seen = Recorder("before_run", lambda trainer: [type(hook).__name__ for hook in trainer.hooks])
    trainer = run(tmp_path / "amp", train=train, callbacks=[seen], **keywords)
    assert weights_of(trainer) == weights_of(plain)
    assert len(trainer.get_hook(OptimizerHook)) == 1
    assert sum("AMPOptimizerHook" in name for name in seen.seen[0]) == 1
    assert trainer.cumulative_iters == 2
    assert any("but this run trains in 32-true: there is no GPU" in line for line in messages(tmp_path / "amp"))


@pytest.mark.parametrize("precision", ["bf16-mixed", "32", "16-mixed"])
def test_a_precision_given_to_lightning_wins(precision, tmp_path):
    trainer = run(tmp_path, use_fp16=True, trainer_args={"precision": precision})
    assert trainer.module.trainer.precision.startswith(precision)
    assert any("asks for precision 16-mixed" in line for line in messages(tmp_path)) is (precision != "16-mixed")


@pytest.mark.parametrize(
    ("loss_scale", "text"),
    [
        ("dynamic", "loss_scale: found 'dynamic'"),
        (0, "found 0; allowed: a number above 0"),
        (True, "found True"),
        ({"growth_factr": 2.0}, "takes no argument 'growth_factr'.*growth_factor"),
        ({"growth_factor": 0.5}, "GradScaler refuses its arguments"),
        ({"device": "cpu"}, "takes no argument 'device'"),
    ],
)
def test_what_makes_no_scaler_is_refused(loss_scale, text):
    with pytest.raises(ConfigError, match=text):
        TorchAMPOptimizerHook(loss_scale)


def test_it_is_refused_with_its_key(tmp_path):
    with pytest.raises(ConfigError, match=r"train\.optimizer_hook\.loss_scale"):
        make(tmp_path, train={"optimizer_hook": {**AMP, "loss_scale": -1.0}})
