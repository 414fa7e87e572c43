"""The ``tuners`` section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from adapter.schema.field import Doc

TUNER_SECTIONS = ("tuners", "efficient_tuners")  # two names of one section
TUNER_OPTIONS = ("save_trainable_only", "merge")


@dataclass(frozen=True, kw_only=True)
class Tuners:
    """Adapters, which alone are trained; other keys are arguments of peft's config, or names of several adapters."""

    OPEN = "tuner"

    type: Annotated[
        str | None,
        Doc("Kind of adapter: lora, ia3, prefix_tuning, ... or peft's class (LoraConfig).", target="class of peft"),
    ] = None
    save_trainable_only: Annotated[
        bool, Doc("Checkpoints without the weights that are not trained; they come from the model again.")
    ] = False
    merge: Annotated[
        bool, Doc("Write the model with its adapters merged into its weights to the output folder as well.")
    ] = False
