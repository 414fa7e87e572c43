from common.registry import registry

from .samples import Samples


def load_dataset(name, cfg):
    return registry.get_dataset_class(name)(**cfg)


__all__ = ["Samples", "load_dataset"]
