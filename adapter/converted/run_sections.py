"""Between a ``run:`` config and the arguments of the classes of a Lightning CLI file; its keys stay what they are."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from adapter.converted.sections import HookEntry, Sections
from adapter.dialects.run_settings import settings

DATA = ("dataset", "datasets")


def split_run(config: Mapping[str, Any], trainer: Mapping[str, Any]) -> Sections:
    """The parts of a ``run:`` config.

    Args:
        config: As the user wrote it, with overrides.
        trainer: Arguments of ``lightning.Trainer`` that its plan decides.
    """
    rest = copy.deepcopy(dict(config))
    data = {name: rest.pop(name) for name in DATA if rest.get(name) is not None}
    run, model = dict(rest.pop("run")), rest.pop("model")
    hooks = run.pop("hooks") if run.get("hooks") else []
    arguments = {"run": run, "model": model, **({"other": rest} if rest else {})}
    folder = {"default_root_dir": settings(config).output_dir}
    return Sections(arguments, data, {**folder, **trainer, **_device(run)}, tuple(map(_entry, hooks)))


def join_run(sections: Sections) -> dict[str, Any]:
    """The ``run:`` config that sections are of, less what they say to ``lightning.Trainer``."""
    model = copy.deepcopy(sections.model)
    run = model["run"]
    hooks = [{"type": entry.type, **(entry.args or {})} for entry in sections.hooks]
    return {
        "model": model.get("model"),
        **copy.deepcopy(sections.data),
        "run": {**run, **({"hooks": [*(run.get("hooks") or []), *hooks]} if hooks else {})},
        **model.get("other", {}),
    }


def _entry(hook: Mapping[str, Any]) -> HookEntry:
    return HookEntry(hook["type"], {name: value for name, value in hook.items() if name != "type"} or None)


def _device(run: Mapping[str, Any]) -> dict[str, Any]:
    """Lightning's arguments for ``run.device``."""
    kind, _, index = str(run.get("device") or "auto").partition(":")
    accelerator = "gpu" if kind == "cuda" else kind
    return {"accelerator": accelerator, **({"devices": [int(index)]} if index and accelerator != "cpu" else {})}
