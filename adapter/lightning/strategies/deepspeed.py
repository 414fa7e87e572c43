"""DeepSpeed: its engine divides the optimizer's state, gradients and weights among the processes (ZeRO 0 to 3)."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from lightning.pytorch.strategies import Strategy
from torch import nn

from adapter.checkpoint import shards
from adapter.errors import ConfigError, Problem
from adapter.lightning.arguments import count_processes, lightning_arguments
from adapter.lightning.strategies import deepspeed_config as settings
from adapter.lightning.strategies.strategy import RunStrategy
from adapter.plan import Plan, precision_key
from adapter.registry import STRATEGIES

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

HOOK_NAMES = ("DeepspeedHook", "DeepSpeedHook")
BY_NAME: dict[str, dict[str, Any]] = {  # Lightning's names -> what they say of ZeRO
    "deepspeed_stage_1": {"stage": 1},
    "deepspeed_stage_2": {"stage": 2},
    "deepspeed_stage_2_offload": {"stage": 2, "offload_optimizer": {"device": "cpu"}},
    "deepspeed_stage_3": {"stage": 3},
    "deepspeed_stage_3_offload": {
        "stage": 3,
        "offload_optimizer": {"device": "cpu"},
        "offload_param": {"device": "cpu"},
    },
}


def on_cpu(owner: EpochBasedTrainer) -> bool:
    """Whether a run computes on CPUs."""
    return lightning_arguments(owner)["accelerator"] == "cpu" or not torch.cuda.is_available()


@STRATEGIES.register_module(module_name="deepspeed")
class DeepSpeed(RunStrategy):
    """Trains with DeepSpeed's engine, as DeepspeedHook's arguments, or one of Lightning's names, say.

    Attributes:
        engine: DeepSpeed's engine around the model, once training has begun; it stays for evaluations after it.
        accumulating: Whether there are gradients that have led to no step yet.
    """

    whole_parameters = False

    def __init__(self, plan: Plan, given: Strategy | str | None = None) -> None:
        super().__init__(plan, given)
        self.engine: Any = None
        self.accumulating = False
        hook = next((hook for hook in plan.hooks if hook.type in HOOK_NAMES), None)
        self.arguments_of_hook = plan.strategy_args if hook else {}
        self.key = f"{hook.key}.config" if hook else "trainer.strategy"

    @classmethod
    def accepts(cls, asked: Strategy | str) -> bool:
        """Lightning's names; an object of its strategy would not know of the run's accumulation and clipping."""
        return asked in BY_NAME

    @property
    def shards_model(self) -> bool:  # type: ignore[override]
        """In stage 3 each layer's weights are gathered from all processes."""
        return bool(self.config(1)[0]["zero_optimization"]["stage"] == 3)

    def precision(self, owner: EpochBasedTrainer) -> str:
        """What DeepSpeed's config asks for, where the run's does not; 32 bits in place of a hook's 16 on a CPU."""
        asked = self.plan.precision
        if asked.startswith("16") and on_cpu(owner):
            asked = "32-true"
        return settings.precision_of(self._written(), asked, self.key)

    def config(self, processes: int) -> tuple[dict[str, Any], list[Problem]]:
        """DeepSpeed's config with the run's values filled in, and what is wrong with it."""
        stage = self.arguments_of_hook.get("zero_stage")
        return settings.settled(self._written(), stage, settings.facts_of(self.plan, processes), self.key)

    def _written(self) -> dict[str, Any]:
        if isinstance(self.given, str):
            return {"zero_optimization": dict(BY_NAME[self.given])}
        return settings.read_config(self.arguments_of_hook.get("config"), self.key)

    def problems(self, processes: int) -> Iterator[Problem]:
        """Whatever would end the run once its processes have started."""
        if importlib.util.find_spec("deepspeed") is None:
            yield Problem(self.key.removesuffix(".config"), "DeepSpeed is not installed", fix="pip install deepspeed")
        for hook in self.plan.hooks:
            if hook.type == "NoneOptimizerHook":
                found = "NoneOptimizerHook leaves the step to the user's code, but under DeepSpeed its engine steps"
                yield Problem(hook.key, found, "OptimizerHook")
        order = (settings.stepping_options(self.plan).get("grad_clip") or {}).get("norm_type", 2.0)
        if float(order) != 2.0:
            found = f"found {order}, but DeepSpeed clips by the norm of order 2"
            yield Problem("train.optimizer.options.grad_clip.norm_type", found, "2")
        try:
            yield from self.config(processes)[1]
            settings.precision_of(self._written(), self.plan.precision, self.key)
        except ConfigError as error:
            yield from error.problems

    def check(self, owner: EpochBasedTrainer) -> None:
        """One optimizer: the engine steps no more."""
        if isinstance(owner.optimizers[0], Mapping):
            found = "optimizers by name, but DeepSpeed's engine steps one"
            raise ConfigError(Problem("optimizers", found, fix="use one, with param_groups, or DDPHook"))

    def make(self, owner: EpochBasedTrainer) -> Strategy:
        """Lightning's DeepSpeedStrategy over the settled config.

        Raises:
            ConfigError: A precision that DeepSpeed's config contradicts, or that it does not have on CPUs.
        """
        precision = str(owner.trainer_args.get("precision") or self.precision(owner))
        if on_cpu(owner) and precision.startswith("16"):
            found = f"found {precision}, which DeepSpeed does not run on CPUs"
            raise ConfigError(Problem(self._precision_key(owner), found, "32-true, bf16-mixed, bf16-true"))
        settings.precision_of(self._written(), precision, self.key)
        config, _ = self.config(count_processes(owner))
        settings.set_precision(config, precision)
        if on_cpu(owner):
            os.environ.setdefault("DS_ACCELERATOR", "cpu")  # read when DeepSpeed is imported, by the next line
        from adapter.lightning.strategies.deepspeed_engine import EngineStrategy

        return EngineStrategy(self, owner, config)

    def _precision_key(self, owner: EpochBasedTrainer) -> str:
        """Who asks for 16 bits: the user's arguments for Lightning, the run's config, or DeepSpeed's."""
        if owner.trainer_args.get("precision"):
            return "trainer.precision"
        return precision_key(self.plan) if self.plan.precision.startswith("16") else f"{self.key}.fp16"

    def take(self, engine: Any, schedule: Any) -> None:
        """Keep an engine that has just been made, and let it step its schedule, which Lightning has taken out."""
        self.engine = engine
        engine.lr_scheduler = schedule
        engine.set_gradient_accumulation_boundary(True)

    def before_evaluation(self, owner: EpochBasedTrainer) -> None:
        """Take the main process's buffers: each process has put its own batches in."""
        if owner.processes.size > 1:
            for buffer in owner.model.buffers():
                torch.distributed.broadcast(buffer, 0)

    def weights(self, model: nn.Module) -> Mapping[str, Any]:
        """The whole model's weights in 32 bits, on the main process; every process has to take part."""
        from adapter.lightning.strategies.deepspeed_state import whole_weights

        return whole_weights(model)

    def load_weights(self, model: nn.Module, weights: Mapping[str, Any], strict: bool) -> list[str]:
        """Put a whole model's weights into the model and the engine."""
        from adapter.lightning.strategies.deepspeed_state import load_whole_weights

        return load_whole_weights(model, weights, strict)

    def gradients(self, model: nn.Module) -> dict[str, torch.Tensor]:
        """This process's, of an accumulation that is under way."""
        from adapter.lightning.strategies.deepspeed_state import unfinished_gradients

        return unfinished_gradients(self.engine) if self.accumulating else {}

    def load_gradients(self, model: nn.Module, gradients: Mapping[str, torch.Tensor]) -> None:
        """Put back what ``gradients`` returned."""
        from adapter.lightning.strategies.deepspeed_state import restore_gradients

        self.accumulating = bool(gradients)
        if gradients:
            restore_gradients(self.engine, gradients)

    def optimizer_state(self, owner: EpochBasedTrainer, prefix: Path) -> Any:
        """Which folder has the state: DeepSpeed's own, beside the pair; every process has to take part."""
        from adapter.lightning.strategies.deepspeed_state import save_engine

        written = {"stage": self.engine.zero_optimization_stage(), "processes": owner.processes.size}
        if not self.arguments_of_hook.get("save_zero_checkpoint", True):
            return {"deepspeed": written}
        folder = shards.new_folder(prefix)
        save_engine(self.engine, folder)
        owner.processes.wait()
        return {"deepspeed": written, **shards.named(folder)}

    def load_optimizer_state(self, owner: EpochBasedTrainer, state: Any, prefix: Path) -> None:
        """Put back what the folder holds.

        Raises:
            ValueError: No folder, or one of another stage, another number of processes or another strategy.
        """
        from adapter.lightning.strategies.deepspeed_state import load_engine

        written = state.get("deepspeed")
        now = {"stage": self.engine.zero_optimization_stage(), "processes": owner.processes.size}
        why = (
            "it was not written under DeepSpeed"
            if written is None
            else "it was saved with save_zero_checkpoint false"
            if shards.KEY not in state
            else ", ".join(f"{name} was {written[name]}, is {now[name]}" for name in now if written[name] != now[name])
        )
        if why:
            raise ValueError(f"{why}; go on with the weights only (load_all_state=False)")
        folder = shards.folder_of(state, prefix)
        assert folder is not None
        load_engine(self.engine, folder)

    def clip_gradients(self, parameters: list[nn.Parameter], **arguments: Any) -> None:
        """Nothing: the engine clips in its step."""
