"""Contestant: this package.

python ours.py WORKLOAD [SIZE]
"""

from __future__ import annotations

from with_trainer import main

from adapter import Hook, build_trainer

if __name__ == "__main__":
    main(build_trainer, Hook)
