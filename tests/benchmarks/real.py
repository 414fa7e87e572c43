"""Contestant: ModelScope's own trainer. Run by a Python that has modelscope.

python real.py WORKLOAD [SIZE]
"""

from __future__ import annotations

from modelscope.trainers import build_trainer
from modelscope.trainers.hooks import Hook
from with_trainer import main

if __name__ == "__main__":
    main(build_trainer, Hook)
