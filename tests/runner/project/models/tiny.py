import torch
from common.registry import registry

from tests.parity.golden.cases import TinyNet

from .base_model import BaseModel


@registry.register_model("tiny")
class ProjectModel(BaseModel):
    def __init__(self, head_scale):
        super().__init__()
        net = TinyNet()
        self.hidden, self.head, self.head_scale = net.hidden, net.head, head_scale

    @classmethod
    def from_config(cls, cfg):
        return cls(cfg.get("head_scale"))

    def forward(self, x):
        return self.head(torch.tanh(self.hidden(x)))

    def train_step(self, samples):
        loss = torch.nn.functional.cross_entropy(self(samples["feat"]), samples["labels"])
        return loss, {"loss": loss.detach().clone()}

    def val_step(self, samples):
        z = self(samples["feat"])
        loss = torch.nn.functional.cross_entropy(z, samples["labels"], reduction="none")
        return zip(loss.tolist(), z.tolist(), samples["labels"].tolist(), strict=True)

    def get_optimizer_params(self, weight_decay, lr_scale=1):
        return [
            {"params": [parameter], "weight_decay": decay, "lr_scale": scale}
            for part, scale in ((self.hidden, lr_scale), (self.head, self.head_scale))
            for parameter, decay in ((part.weight, weight_decay), (part.bias, 0))
        ]
