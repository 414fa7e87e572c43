"""Runs of models that are divided among processes: one launch plays all of them and leaves what the tests compare.

torchrun --nproc_per_node 2 -m tests.distributed.divided FOLDER    all but two_by_two, which takes 4
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from adapter import ConfigError, EpochBasedTrainer, Hook

GLOBAL_BATCH = 4
SAMPLES = 20
BATCHES = SAMPLES // GLOBAL_BATCH  # of an epoch
EPOCHS = 3
PLAN = {"blocks.*.up": "colwise", "blocks.*.down": "rowwise"}
KINDS: dict[str, dict[str, Any]] = {
    "single": {},
    "fsdp": {"hook": {"type": "FSDPHook", "wrap_classes": "Block"}},
    "tensor": {"hook": {"type": "MegatronHook"}, "megatron": {"tensor_parallel_plan": PLAN}},
    "fsdp_options": {
        "hook": {"type": "FSDPHook", "min_params": 30, "cpu_offload": True, "reshard_after_forward": True},
    },
    "tensor_method": {"hook": {"type": "MegatronHook"}, "megatron": {}},
}
ACCUMULATE, AMID = 3, 8  # the checkpoint that runs go on from lies in the middle of an accumulation, and of an epoch


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(4), nn.Linear(4, 8), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Net(nn.Module):
    """forward(x: (B, 4) float32, label: (B,) int64) -> {logits: (B, 3), loss: scalar}; weights by formula."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(4, 3)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        with torch.no_grad():
            for number, parameter in enumerate(self.parameters()):
                values = torch.cos(torch.arange(parameter.numel()) * (number + 1.0))
                parameter.copy_(0.5 * values.reshape(parameter.shape))

    def forward(self, x: Tensor, label: Tensor) -> dict[str, Tensor]:
        if self.training:
            self.steps += 1
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, label)}

    def tensor_parallel_plan(self) -> dict[str, str]:
        return {"blocks.0.up": "colwise", "blocks.0.down": "rowwise"}


def wider() -> Net:
    """A Net that tells one more class."""
    net = Net()
    net.head = nn.Linear(4, 4)
    return net


class Points(Dataset):
    """``n`` samples by formula."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> dict[str, Tensor]:
        return {"x": torch.tensor([math.sin(4 * i + j) for j in range(4)]), "label": torch.tensor(i % 3)}


class Notes(Hook):
    """Notes each iteration's loss, the mean over the processes, and each evaluation's values."""

    PRIORITY = "LOWEST"

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.values: list[Any] = []

    def after_train_iter(self, trainer: EpochBasedTrainer) -> None:
        everybody = trainer.processes.gather(float(trainer.train_outputs["loss"].detach()))
        self.losses.append(sum(everybody) / len(everybody))

    def after_val(self, trainer: EpochBasedTrainer) -> None:
        self.values.append(len(self.losses))


def make(folder: Path, kind: str, processes: int = 1, tensor_size: int = 0, **changes: Any) -> EpochBasedTrainer:
    """A trainer of a kind; the global batch is the same whatever the number of processes.

    ``tensor_size``: processes that share layers, all of them by default.

    ``changes``: keywords of the trainer, and ``optimizer``, ``megatron`` and ``shuffle`` for the config.
    """
    own = KINDS[kind]
    shares = processes if own.get("megatron") is None else processes // (tensor_size or processes)
    hooks = [{"type": "CheckpointHook", "by_epoch": False, "interval": 4, "max_checkpoint_num": 3}]
    config: dict[str, Any] = {
        "task": "image-classification",
        "train": {
            "max_epochs": EPOCHS,
            "work_dir": str(folder),
            "dataloader": {
                "batch_size_per_gpu": GLOBAL_BATCH // shares,
                "workers_per_gpu": 0,
                "shuffle": changes.pop("shuffle", False),  # processes that share the data shuffle in another way
            },
            "optimizer": {
                "type": "AdamW",
                "lr": 0.05,
                "options": {"cumulative_iters": ACCUMULATE, "grad_clip": {"max_norm": 0.5}},
                **changes.pop("optimizer", {}),
            },
            "lr_scheduler": {"type": "StepLR", "step_size": 1, "gamma": 0.5},
            "hooks": [*hooks, *([own["hook"]] if "hook" in own else [])],
        },
        "evaluation": {
            "dataloader": {"batch_size_per_gpu": 2, "workers_per_gpu": 0},
            "metrics": "accuracy",
            "period": {"by_epoch": False, "interval": 3},
        },
        "megatron": {
            "tensor_model_parallel_size": tensor_size or processes,
            **own.get("megatron", {}),
            **changes.pop("megatron", {}),
        },
    }
    given: dict[str, Any] = {"train_dataset": Points(SAMPLES), "eval_dataset": Points(6), **changes}
    arguments = {"accelerator": "cpu", "devices": processes, **given.pop("trainer_args", {})}
    return EpochBasedTrainer(
        **{"model": Net(), "cfg_file": config, "callbacks": [], "trainer_args": arguments, **given},
    )


def play(folder: Path, kind: str, checkpoint: Path | None = None, **changes: Any) -> dict[str, Any]:
    """Train, from a checkpoint when one is given; what came of it."""
    notes = Notes()
    trainer = make(folder, kind, callbacks=[notes], **changes)
    trainer.train(str(checkpoint) if checkpoint else None)
    return {
        "losses": notes.losses,
        "evaluated_after": notes.values,
        "values": trainer.metric_values,
        "weights": {name: value.clone() for name, value in trainer.strategy.weights(trainer.model).items()},
    }


class Renamed(nn.Module):
    """As many parameters as Net, of which only the head has the same name."""

    def __init__(self) -> None:
        super().__init__()
        net = Net()
        self.layers, self.head = net.blocks, net.head
        self.register_buffer("steps", net.steps)

    def forward(self, x: Tensor, label: Tensor) -> dict[str, Tensor]:
        for layer in self.layers:
            x = layer(x)
        logits = self.head(x)
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, label)}


def refusal(folder: Path, kind: str, checkpoint: Path, **changes: Any) -> dict[str, Any]:
    """What a run says of a checkpoint of another model, and the files it leaves."""
    try:
        make(folder, kind, **changes).train(str(checkpoint))
    except ConfigError as error:
        return {"said": str(error), "files": list(folder.rglob("*"))}
    return {"said": "", "files": []}


def facts(folder: Path, processes: int) -> dict[str, Any]:
    """What a divided model's trainer says of its groups and data."""
    trainer = make(folder, "tensor", processes=processes, shuffle=True)
    sampler = trainer.get_train_dataloader().sampler
    sharded = make(folder, "fsdp", processes=processes, shuffle=True)
    return {
        "groups": [trainer.dp_group.size(), trainer.tp_group.size(), trainer.pp_group.size()],
        "order": trainer.processes.gather(list(sampler)),
        "sharded_groups": [sharded.dp_group.size(), sharded.tp_group.size()],
        "sharded_order": sharded.processes.gather(list(sharded.get_train_dataloader().sampler)),
    }


def two_by_two(folder: Path) -> Mapping[str, Any]:
    """Four processes, of which two and two share layers, and the two pairs share the data."""
    checkpoint = folder / "two_by_two" / f"iter_{AMID}.pth"
    return {
        "two_by_two": play(folder / "two_by_two", "tensor", processes=4, tensor_size=2),
        "resumed": play(folder / "resumed", "tensor", checkpoint, processes=4, tensor_size=2),
    }


def play_all(folder: Path, processes: int) -> Mapping[str, Any]:
    """Everything the tests look at."""
    found: dict[str, Any] = {"facts": facts(folder / "facts", processes)}
    inner = {"tensor_parallel_plan": {f"0.{name}": way for name, way in PLAN.items()}}
    compiled = {"compile": True, "compile_options": {"backend": "eager"}}
    for kind in ("fsdp", "tensor"):
        whole, amid = folder / kind, folder / kind / f"iter_{AMID}.pth"
        variants: dict[str, dict[str, Any]] = {
            kind: {},
            f"{kind}_resumed": {"checkpoint": amid},
            f"{kind}_from_single": {"checkpoint": folder / "single" / amid.name},
            f"{kind}_compiled": compiled,
            f"{kind}_bf16-mixed": {"trainer_args": {"precision": "bf16-mixed"}},
            f"{kind}_bf16-true": {"trainer_args": {"precision": "bf16-true"}},
        }
        for name, changes in variants.items():
            found[name] = play(folder / name, kind, processes=processes, **changes)
        found[f"{kind}_refusals"] = {
            "another": refusal(
                folder / "no", kind, amid, processes=processes, model=nn.Sequential(Net()), megatron=inner
            ),
            "a size": refusal(folder / "no", kind, amid, processes=processes, model=wider()),
        }
        found[f"{kind}_files"] = sorted(path.name for path in whole.iterdir())
    for name in ("fsdp_options", "tensor_method"):
        found[name] = play(folder / name, name, processes=processes)
    return found


if __name__ == "__main__":
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", r"The \.grad attribute of a Tensor")  # torch.compile looks at every tensor's
    target = Path(sys.argv[1])
    torch.distributed.init_process_group("gloo")
    processes = torch.distributed.get_world_size()
    results = two_by_two(target) if processes == 4 else play_all(target, processes)
    if torch.distributed.get_rank() == 0:
        torch.save(results, target / "found.pt")
    torch.distributed.destroy_process_group()
