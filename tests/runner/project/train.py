"""A project's script in the manner of the family: it builds each part from the config and hands all to its trainer."""

import argparse
import json
import os
import random
from pathlib import Path

import numpy as np
import tiny_task
import torch
from common.dist_utils import init_distributed_mode, main_process
from common.logger import setup_logger
from common.optims import LinearWarmupCosineLRScheduler  # registers all of them
from common.registry import registry
from datasets import load_dataset
from models import *  # noqa: F403  registers them
from omegaconf import OmegaConf
from processors import load_processor
from tasks import setup_task
from trainer import Trainer

REGISTERED = tiny_task.ProjectTask, LinearWarmupCosineLRScheduler


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def get_datasets(config):
    datasets = {}
    for split in ("train", "val"):
        cfg = dict(config.dataset.pop(f"{split}_cfg"))
        cfg["transform"] = load_processor(**cfg["transform"])
        datasets[split] = load_dataset(cfg.pop("name"), cfg)
    return datasets


@main_process
def tell(trainer, best, path):
    Path(path).write_text(json.dumps({"best": best, "run": str(trainer.work_dir), "where": Trainer.__module__}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cfg-path", type=str)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--tell", type=str)
    args = parser.parse_args()

    seed_everything(args.seed + int(os.environ.get("RANK", 0)))
    config = OmegaConf.load(args.cfg_path)
    init_distributed_mode(config.run)
    setup_logger()

    datasets = get_datasets(config)
    model = registry.get_model_class(config.model.arch).from_config(config.model)
    trainer = Trainer(config, model, datasets, setup_task(config), "job")
    tell(trainer, trainer.train(), args.tell)


if __name__ == "__main__":
    main()
