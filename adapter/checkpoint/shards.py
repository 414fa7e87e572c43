"""Sharded state: each process writes its part of the optimizer and the gradients, and reads what its part needs.

The folder is a torch distributed checkpoint (DCP) with these keys:

    optimizer.<parameter>.<name>     a tensor of the optimizer's state
    gradients.<parameter>            a gradient that the processes have shared, but that has led to no step yet
    unshared.<rank>.<parameter>      a process's own gradient of an accumulation that was under way
"""

from __future__ import annotations

import glob
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch import distributed as dist

if TYPE_CHECKING:
    from torch.optim import Optimizer

SUFFIX = "_shards_"
KEY = "shards"  # name of the folder, in the optimizer's state
FILES = "shard_files"  # its files, {name: bytes}, in the same place


def save_shards(model: nn.Module, optimizer: Optimizer, prefix: Path) -> dict[str, Any]:
    """Write this process's part; every process has to take part.

    Args:
        model: The model.
        optimizer: Over its parameters.
        prefix: Of the pair that the folder belongs to, and lies beside.

    Returns:
        The optimizer's state less what the folder holds, with its name.
    """
    from torch.distributed import checkpoint as dcp

    folder = new_folder(prefix)
    dcp.save({**_optimizer_tensors(model, optimizer), **_gradients(model)}, checkpoint_id=folder)
    return {**without_tensors(optimizer.state_dict()), **named(folder)}


def named(folder: Path) -> dict[str, Any]:
    """What the optimizer's state says of a folder that all processes have written to their end."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {KEY: folder.name, FILES: {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}}


def folder_of(state: Any, prefix: Path) -> Path | None:
    """The folder that belongs to an optimizer's state, with all that was written into it; None when it has none.

    Raises:
        ValueError: The folder, or one of its files, is gone or cut short.
    """
    if not isinstance(state, Mapping) or KEY not in state:
        return None
    folder = prefix.parent / state[KEY]
    if not folder.is_dir():
        raise ValueError(f"cannot load the shards '{folder}': there is no such folder")
    for name, size in state.get(FILES, {}).items():
        path = folder / name
        found = path.stat().st_size if path.is_file() else None
        if found is None or found < size:
            reason = "is gone" if found is None else f"has {found} of {size} bytes"
            raise ValueError(f"cannot load the shards '{folder}': {name} {reason}")
    return folder


def new_folder(prefix: Path) -> Path:
    """Where the processes of a run write their parts, beside a pair; the same on all of them, which have to take part.

    It has a name of its own, by the time: a pair that is saved again keeps the old one until it is complete.
    """
    box = [time.time_ns()]
    dist.broadcast_object_list(box)
    return prefix.with_name(f"{prefix.name}{SUFFIX}{box[0]}")


def whole_of(path: Path) -> Path:
    """The prefix of the pair that a folder of shards belongs to; any other path as it is.

    Raises:
        FileNotFoundError: It is a file inside such a folder.
    """
    for place in (path, *path.parents):
        prefix, shards, number = place.name.rpartition(SUFFIX)
        if shards and number.isdigit():
            if place == path:
                return path.with_name(prefix)
            found = f"'{path}' is one process's part of a checkpoint"
            raise FileNotFoundError(f"{found}; name the folder '{place}', or '{place.with_name(prefix)}.pth'")
    return path


def shards_of(prefix: Path) -> list[Path]:
    """The folders of a pair: one, or two while it is saved again."""
    return list(prefix.parent.glob(f"{glob.escape(prefix.name)}{SUFFIX}*"))


def remove_shards(prefix: Path, keep: str | None = None) -> None:
    """Delete the folders of a pair, but for the one named ``keep``."""
    for folder in shards_of(prefix):
        if folder.name != keep:
            shutil.rmtree(folder, ignore_errors=True)  # another process may be at it


def without_tensors(state: Mapping[str, Any]) -> dict[str, Any]:
    """An optimizer's ``state_dict`` less what ``save_shards`` writes."""
    kept = {
        number: {name: value for name, value in own.items() if not isinstance(value, Tensor)}
        for number, own in state["state"].items()
    }
    return {**state, "state": kept}


def load_optimizer(model: nn.Module, optimizer: Optimizer, state: Mapping[str, Any], folder: Path) -> None:
    """Put back an optimizer's state, on any number of processes.

    Args:
        model: The model, sharded or not.
        optimizer: Over the model's parameters.
        state: What ``save_shards`` returned.
        folder: What it wrote.

    Raises:
        ValueError: The state of another model, or a folder that cannot be read.
    """
    parameters = dict(model.named_parameters())
    numbers = _numbers(optimizer)
    tensors = _read(folder, "optimizer", parameters)
    rest = {name: value for name, value in state.items() if name not in (KEY, FILES)}
    whole: dict[str, Any] = {**rest, "state": {number: dict(own) for number, own in state["state"].items()}}
    for key, tensor in tensors.items():
        name, _, part = key.rpartition(".")
        whole["state"].setdefault(numbers[id(parameters[name])], {})[part] = tensor
    optimizer.load_state_dict(whole)


def load_gradients(model: nn.Module, folder: Path) -> None:
    """Put back the gradients of an accumulation that was under way.

    On as many processes as wrote them each gets its own; on another number all get their mean, which the step of the
    accumulation comes to anyway, up to rounding.
    """
    reshard(model)
    parameters = dict(model.named_parameters())
    for name, gradient in _read(folder, "gradients", parameters).items():
        parameters[name].grad = gradient
    ranks = {int(key.split(".")[1]) for key in _keys(folder) if key.startswith("unshared.")}
    if not ranks:
        return
    if units(model) and len(ranks) == dist.get_world_size():
        own = _read(folder, f"unshared.{dist.get_rank()}", None)
        for unit in units(model):
            unit.unshard()  # torch makes the parameters' whole form, which the gradients go with, at first use
            unit.reshard()
        for name, part in _sharded_parts(model):
            if name in own:
                part.unsharded_accumulated_grad = _like(own[name], part.unsharded_param)
        return
    _share_out(parameters, [_read(folder, f"unshared.{rank}", None) for rank in sorted(ranks)])


def whole(state: Any) -> Any:
    """A state with whole tensors in main memory in place of distributed ones; every process has to take part."""
    from torch.distributed.tensor import DTensor
    from torch.utils._pytree import tree_map

    return tree_map(lambda value: value.full_tensor().cpu() if isinstance(value, DTensor) else value, state)


def divided(values: Mapping[str, Any], model: nn.Module) -> dict[str, Any]:
    """Whole tensors by parameter name, each divided as the model's own of that name; every process has to take part."""
    own = model.state_dict(keep_vars=True)
    return {name: placed(value, own[name]) if name in own else value for name, value in values.items()}


def placed(value: Any, like: Any) -> Any:
    """A whole tensor, divided as another of its shape; anything else as it is."""
    from torch.distributed.tensor import DTensor, distribute_tensor

    if not isinstance(like, DTensor) or not isinstance(value, Tensor) or value.shape != like.shape:
        return value
    local = like.to_local()
    return distribute_tensor(value.to(local.device), like.device_mesh, like.placements)


def load_whole_optimizer(optimizer: Optimizer, state: Mapping[str, Any]) -> None:
    """Put back a whole optimizer's state, each tensor divided as its parameter."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    own = {
        number: {name: placed(value, parameters[number]) for name, value in values.items()}
        for number, values in state["state"].items()
    }
    optimizer.load_state_dict({**state, "state": own})


def reshard(model: nn.Module) -> None:
    """Free gathered parameters, so that the model's parameters are this process's shards again."""
    for unit in units(model):
        unit.reshard()


def _optimizer_tensors(model: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    reshard(model)
    return {
        f"optimizer.{name}.{part}": value
        for name, parameter in model.named_parameters()
        for part, value in optimizer.state.get(parameter, {}).items()
        if isinstance(value, Tensor)
    }


def _gradients(model: nn.Module) -> dict[str, Tensor]:
    shared = {f"gradients.{name}": p.grad for name, p in model.named_parameters() if p.grad is not None}
    rank = dist.get_rank()
    for name, part in _sharded_parts(model):
        gradient = part.unsharded_accumulated_grad
        if gradient is None and hasattr(part, "_unsharded_param"):
            gradient = part._unsharded_param.grad
        if gradient is not None:
            shared[f"unshared.{rank}.{name}"] = getattr(gradient, "_local_tensor", gradient)
    return shared


def units(model: nn.Module) -> list[Any]:
    """The modules that FSDP2 shards one by one, the model itself first; none of a model that is not sharded."""
    from torch.distributed.fsdp import FSDPModule

    return [module for module in model.modules() if isinstance(module, FSDPModule)]


def _sharded_parts(model: nn.Module) -> Iterator[tuple[str, Any]]:
    """FSDP's record of each parameter, by name.

    torch keeps gradients that have not been shared yet there, and offers no other way to them.
    """
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for unit in units(model):
        group = unit._get_fsdp_state()._fsdp_param_group
        for part in group.fsdp_params if group else []:
            yield names[id(part.sharded_param)], part


def _share_out(parameters: Mapping[str, nn.Parameter], by_rank: list[dict[str, Tensor]]) -> None:
    """Add the mean of several processes' gradients to those of the parameters."""
    from torch.distributed.tensor import DTensor, distribute_tensor

    for name in by_rank[0]:
        parameter = parameters[name]
        mean = torch.stack([own[name] for own in by_rank]).mean(0).to(parameter.device, parameter.dtype)
        if isinstance(parameter, DTensor):
            mean = distribute_tensor(mean, parameter.device_mesh, parameter.placements)
        parameter.grad = mean if parameter.grad is None else parameter.grad + mean


def _like(local: Tensor, parameter: Tensor) -> Tensor:
    """A process's own gradient as FSDP keeps it: on the device, and of a layer that is split too, a DTensor."""
    from torch.distributed.tensor import DTensor

    local = local.to(parameter.device)
    if isinstance(parameter, DTensor):
        return DTensor.from_local(local, parameter.device_mesh, parameter.placements)
    return local


def _numbers(optimizer: Optimizer) -> dict[int, int]:
    """Number of each parameter in the optimizer's ``state_dict``."""
    listed = (parameter for group in optimizer.param_groups for parameter in group["params"])
    return {id(parameter): number for number, parameter in enumerate(listed)}


def _keys(folder: Path) -> Mapping[str, Any]:
    """Description of each tensor in a folder of shards.

    Raises:
        ValueError: It cannot be read.
    """
    from torch.distributed.checkpoint import FileSystemReader

    try:
        return FileSystemReader(folder).read_metadata().state_dict_metadata
    except Exception as error:  # torch raises several kinds for a damaged folder
        raise ValueError(f"cannot load the shards '{folder}': {error}") from error


def _read(folder: Path, prefix: str, parameters: Mapping[str, nn.Parameter] | None) -> dict[str, Tensor]:
    """The tensors below a prefix, without it; those of a parameter's shape are sharded as it is."""
    from torch.distributed import checkpoint as dcp

    wanted: dict[str, Tensor] = {}
    for key, info in _keys(folder).items():
        if key.startswith(f"{prefix}."):
            name = key.removeprefix(f"{prefix}.")
            wanted[key] = _room(name, info, parameters)
    if wanted:
        dcp.load(wanted, checkpoint_id=folder, no_dist=not dist.is_initialized())
    return {key.removeprefix(f"{prefix}."): tensor for key, tensor in wanted.items()}


def _room(name: str, info: Any, parameters: Mapping[str, nn.Parameter] | None) -> Tensor:
    """An empty tensor to read into."""
    dtype = info.properties.dtype
    if parameters is None:
        return torch.empty(info.size, dtype=dtype)
    parameter = parameters.get(name, parameters.get(name.rpartition(".")[0]))
    if parameter is None:
        raise ValueError(f"the checkpoint's shards are of another model: this one has no parameter for '{name}'")
    if parameter.shape == info.size:
        return torch.empty_like(parameter, dtype=dtype, requires_grad=False)
    return torch.empty(info.size, dtype=dtype)
