import torch
from common.registry import registry
from processors import BaseProcessor

from tests.parity.golden.cases import sample

from .base_dataset import BaseDataset


@registry.register_dataset("map_data")
class Samples(BaseDataset):
    def __init__(self, transform, n):
        super().__init__(transform=transform)
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return self.transform(sample(index))

    def collator(self, batch):
        return torch.utils.data.default_collate(batch)


@registry.register_processor("as_it_is")
class AsItIs(BaseProcessor):
    pass
