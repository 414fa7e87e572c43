"""The whole documented config."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from adapter.schema.dataset import Dataset
from adapter.schema.evaluation import Evaluation
from adapter.schema.field import Doc
from adapter.schema.hooks import MegatronArguments
from adapter.schema.model import Model
from adapter.schema.train import Train
from adapter.schema.tuners import Tuners


@dataclass(frozen=True, kw_only=True)
class Run:
    """A config of the documented schema; keys of the user's own may stand beside these."""

    framework: Annotated[
        str | None, Doc("Framework the model is written in.", target="kept in output/configuration.json")
    ] = "pytorch"
    task: Annotated[str | None, Doc("Task name; selects the default metric.", target="task")] = None
    model: Annotated[str | Model | None, Doc("What is trained; a text is its directory.", target="model")] = None
    dataset: Annotated[Dataset | None, Doc("What it is trained on.", target="data")] = None
    preprocessor: Annotated[
        dict | list | None,
        Doc("How a sample is prepared, one for both splits or {train, val}.", target="preprocessor"),
    ] = None
    tuners: Annotated[Tuners | None, Doc("Adapters on the model, by peft.", target="adapters")] = None
    efficient_tuners: Annotated[
        Tuners | None, Doc("The same section, by the name of the trainer's keyword.", target="adapters")
    ] = None
    train: Annotated[Train | None, Doc("Training.")] = None
    evaluation: Annotated[Evaluation | None, Doc("Evaluation.")] = None
    pipeline: Annotated[
        dict | None, Doc("For inference after training.", target="kept in output/configuration.json")
    ] = None
    version: Annotated[Any, Doc("The author's version of the config.", target="kept in output/configuration.json")] = (
        None
    )
    plugins: Annotated[
        list[str] | str | None,
        Doc("Packages to install and import; only with trust_remote_code.", target="trust_remote_code"),
    ] = None
    allow_remote: Annotated[
        bool, Doc("The model needs remote code; only with trust_remote_code.", target="trust_remote_code")
    ] = False
    custom_imports: Annotated[
        str | list[str] | dict | None,
        Doc(
            "Files or modules to import first, to register classes; only with trust_remote_code.",
            target="trust_remote_code",
        ),
    ] = None
    parallel: Annotated[dict | None, Doc("Arguments of DistributedDataParallel.", target="DistributedDataParallel")] = (
        None
    )
    megatron: Annotated[MegatronArguments | None, Doc("Sizes of the parallel groups.", hook="MegatronHook")] = None
