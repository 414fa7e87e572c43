"""The modules of a ``run:`` project that its scripts import: those that the project does not have are served."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from adapter.served_modules import Names, ServedModule, UnknownImportError

REGISTRY, TRAINER = "common.registry", "trainer"
HOMES = {
    **dict.fromkeys(("BaseDataset", "BaseModel", "BaseProcessor", "BaseTask"), "adapter.runner"),
    **dict.fromkeys(("load_processor", "registry", "setup_task", "Trainer"), "adapter.runner"),
    "ConstantLRScheduler": "adapter.runner.schedules:ConstantSchedule",
    "LinearWarmupCosineLRScheduler": "adapter.runner.schedules:CosineSchedule",
    "LinearWarmupStepLRScheduler": "adapter.runner.schedules:StepSchedule",
    **dict.fromkeys(("init_distributed_mode", "is_main_process", "main_process"), "adapter.runner.project_start"),
    "setup_logger": "adapter.runner.project_start",
}
# Module -> names that scripts import from it. `datasets` is a package of others, of which a project has its own.
MODULES = {
    REGISTRY: "registry",
    "common.dist_utils": "init_distributed_mode is_main_process main_process",
    "common.logger": "setup_logger",
    "common.optims": "ConstantLRScheduler LinearWarmupCosineLRScheduler LinearWarmupStepLRScheduler",
    "datasets.base_dataset": "BaseDataset",
    "models": "BaseModel",
    "models.base_model": "BaseModel",
    "processors": "BaseProcessor load_processor",
    "processors.base_processor": "BaseProcessor",
    "tasks": "BaseTask setup_task",
    "tasks.base_task": "BaseTask",
    TRAINER: "Trainer",
}
NAMES = Names(MODULES, HOMES, "the names of run: projects")
OWN_LOOP = (
    "trainer.py beside the script is the project's own, so that its loop runs, and not adapter's; move it away, and "
    "adapter's takes its place"
)


class ProjectFinder(MetaPathFinder):
    """Finds the served modules that nobody else has found: it has to be the last one that is asked."""

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a served module; None for any other.

        Names as common as ``models`` are served to scripts that have a ``common.registry`` only.

        Raises:
            UnknownImportError: It is below a served module, and is not served.
        """
        parent, _, name = fullname.rpartition(".")
        known = fullname in NAMES.packages and fullname != "datasets"
        if known and (parent or fullname == "common" or REGISTRY in sys.modules):
            return NAMES.spec(fullname)
        above = sys.modules.get(parent)
        if isinstance(above, ServedModule) and parent in NAMES.packages and not name.startswith("__"):
            raise UnknownImportError(NAMES.refusal(parent, name), name=fullname)
        return None


def serve() -> None:
    """Serve the names from now on, to scripts that do not have them themselves."""
    if not any(isinstance(finder, ProjectFinder) for finder in sys.meta_path):
        sys.meta_path.append(ProjectFinder())


def own_loop(folder: Path) -> str | None:
    """What to say of a project whose trainer is its own; None of any other script's folder."""
    own = all(folder.joinpath(*name.split(".")).with_suffix(".py").is_file() for name in (REGISTRY, TRAINER))
    return OWN_LOOP if own else None
