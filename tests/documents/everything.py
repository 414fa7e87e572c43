"""Imports what commands use, and finds the names of configs, for the processes that are made from this one."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil

os.environ["OMP_NUM_THREADS"] = "1"  # copies of a process that has computed with threads would wait for them
os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the pages show what happens on a CPU

# What takes long to import and the package imports at need only, in the functions that use it
import datasets  # noqa: F401
import lightning.pytorch.cli  # noqa: F401
import pandas  # noqa: F401
import torchmetrics  # noqa: F401

import adapter.registry

HEAVY = ("adapter.drop_in", "adapter.__main__")  # act when they are imported

for _module in pkgutil.walk_packages(adapter.__path__, "adapter."):
    if _module.name not in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(_module.name)

for _registry in vars(adapter.registry).values():
    if isinstance(_registry, adapter.registry.Registry):
        _registry.names()  # reads the files of whole libraries, once a process
