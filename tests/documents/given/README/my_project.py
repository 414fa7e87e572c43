"""The model and the data of somebody who has a script."""

import torch
from torch import nn
from torch.utils.data import Dataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Linear(8, 4)

    def forward(self, features, label):
        logits = self.layers(features)
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, label)}


class Samples(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return {"features": torch.arange(8.0) * i / self.n, "label": i % 4}


model, train, val = Net(), Samples(12), Samples(6)
