from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.runs import Net, Recorder, make

HOOK = {"type": "ClipClampLogitScaleHook"}


class Clip(Net):
    """Its loss pushes ``clip_model.logit_scale`` by ``push`` an iteration."""

    def __init__(self, push: float) -> None:
        super().__init__()
        self.clip_model = nn.Module()
        self.clip_model.logit_scale = nn.Parameter(torch.tensor(2.0))
        self.push = push

    def forward(self, x, label):
        outputs = super().forward(x, label)
        return {**outputs, "loss": outputs["loss"] - 10 * self.push * self.clip_model.logit_scale}


@pytest.mark.parametrize(("push", "want"), [(1.5, [3.5, 4.6052, 4.6052]), (-1.5, [0.5, 0.0, 0.0])])
def test_it_clamps_after_each_update(push, want, tmp_path):
    scale = Recorder("after_train_iter", lambda trainer: trainer.model.clip_model.logit_scale.item())
    trainer = make(tmp_path, [HOOK], epochs=1, model=Clip(push), callbacks=[scale])
    trainer.train()
    assert scale.seen == pytest.approx(want)


def test_a_model_without_it_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"model\.clip_model\.logit_scale, which Net does not have"):
        make(tmp_path, [HOOK]).train()
