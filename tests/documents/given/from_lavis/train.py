"""A project's script, which builds the parts itself and hands them to its trainer."""

import argparse

import my_project
from common.dist_utils import init_distributed_mode
from common.registry import registry
from tasks import setup_task
from trainer import Trainer

from adapter import Config

parser = argparse.ArgumentParser()
parser.add_argument("--cfg-path")
config = Config.from_file(parser.parse_args().cfg_path)
init_distributed_mode(config.run)
datasets = {
    "train": my_project.MyPoints(config.dataset.train_cfg.samples),
    "val": my_project.MyPoints(config.dataset.val_cfg.samples),
}
model = registry.get_model_class(config.model.arch).from_config(config.model)
Trainer(config, model, datasets, setup_task(config), "job").train()
