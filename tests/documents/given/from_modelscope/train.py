"""A script written for ModelScope."""

import argparse

from modelscope.metainfo import Trainers
from modelscope.trainers import build_trainer

parser = argparse.ArgumentParser()
parser.add_argument("--max_epochs", type=int)
args = parser.parse_args()
trainer = build_trainer(Trainers.default, {"cfg_file": "configuration.json", "max_epochs": args.max_epochs})
trainer.train()
assert trainer.epoch == args.max_epochs
