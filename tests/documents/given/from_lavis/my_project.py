"""The classes of somebody's project."""

import torch
from lightning.pytorch import Callback
from torch import nn
from torch.nn import functional
from torch.utils.data import default_collate

from adapter.runner import BaseDataset, BaseModel, registry


class MyCallback(Callback):
    """One of the project's own."""


@registry.register_dataset("my_points")
class MyPoints(BaseDataset):
    def __init__(self, samples):
        super().__init__(None)
        self.samples = samples

    @classmethod
    def from_config(cls, config):
        return cls(config["samples"])

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        return {"points": torch.full((4,), index / self.samples), "labels": index % 3}

    def collator(self, batch):
        return default_collate(batch)


@registry.register_model("my_model")
class MyModel(BaseModel):
    def __init__(self, classes):
        super().__init__()
        self.head = nn.Linear(4, classes)

    def train_step(self, samples):
        loss = functional.cross_entropy(self.head(samples["points"]), samples["labels"])
        return loss, {"loss": loss.detach().clone()}

    def val_step(self, samples):
        scores = self.head(samples["points"])
        losses = functional.cross_entropy(scores, samples["labels"], reduction="none")
        return zip(losses.tolist(), scores.tolist(), samples["labels"].tolist(), strict=True)
