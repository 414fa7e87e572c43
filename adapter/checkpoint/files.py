"""Checkpoint files: written aside and renamed, loaded without running code."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from adapter.aside import PART_SUFFIX, written_aside
from adapter.checkpoint.checksum import Sealed, verify
from adapter.checkpoint.loadable import numpy_types
from adapter.checkpoint.shards import folder_of, remove_shards, shards_of, whole_of

STATE_SUFFIX = "_trainer_state.pth"
WEIGHTS_SUFFIX = ".pth"
WEIGHTS_NAME = "pytorch_model.bin"  # weights in the directory of a model
INTERRUPTED = "interrupted"  # name of the pair that a signal leaves behind
BEFORE_SUFFIX = "_before"


def save(state: Any, path: Path) -> None:
    """Write ``torch.save(state)`` to ``path`` whole or not at all, streamed: no second copy in memory.

    Raises:
        WriteError: The disk is full, or the place cannot be written to.
    """
    with written_aside(path) as file, without_record_checksums():
        sealed: Any = Sealed(file)  # as much of a file as torch.save uses
        try:
            torch.save(state, sealed)
        except RuntimeError as error:
            raise sealed.error or error from error
        sealed.seal()


@contextlib.contextmanager
def without_record_checksums() -> Iterator[None]:
    """Without the CRC-32 that torch computes for each tensor: on many machines most of the time of a save.

    ``torch.load`` never compares them: it reads a file with a changed byte without a word (measured, torch 2.14). The
    checksum of the whole file takes their place.
    """
    before = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(False)
    try:
        yield
    finally:
        torch.serialization.set_crc32_options(before)


def load(path: Path, what: str = "checkpoint", mmap: bool = False) -> Any:
    """What ``torch.save`` or safetensors wrote, on the CPU; a pickle that would run code is refused.

    Args:
        path: The file.
        what: What the file is to the user; used in the error.
        mmap: Leave the tensors on the disk until they are read.

    Raises:
        FileNotFoundError: No such file.
        ValueError: Not a checkpoint, cut short, damaged, or holding objects that would run code; names the file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no {what} at '{path}'")
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(path)
        verify(path)
        with torch.serialization.safe_globals(numpy_types()):
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mmap)
    except pickle.UnpicklingError as error:
        reason = "it is damaged, or holds objects that would run code"
        raise ValueError(f"cannot load the {what} '{path}': {reason}") from error
    except Exception as error:  # torch raises a dozen kinds for a damaged file
        raise ValueError(f"cannot load the {what} '{path}': {_reason(path, error)}") from error


def _reason(path: Path, error: Exception) -> str:
    """Why a file cannot be loaded; of one that is no zip file torch says nothing that helps."""
    with contextlib.suppress(zipfile.BadZipFile):  # raised for some that were changed at their end
        if path.suffix != ".safetensors" and not zipfile.is_zipfile(path):
            return "it was cut short, or is no checkpoint"
    return str(error).partition("\n")[0] or type(error).__name__


def pair(path: str | os.PathLike[str]) -> tuple[Path, Path | None]:
    """Weights file and trainer-state file that a path stands for; None without a trainer state.

    Args:
        path: Either file of a pair, the folder of its shards, their common prefix, or a file of pure weights (.bin,
            .safetensors).

    Raises:
        FileNotFoundError: No weights there.
    """
    given = whole_of(Path(path))
    if given.is_dir() or (given.suffix not in ("", ".pth", ".bin", ".safetensors") and given.is_file()):
        raise FileNotFoundError(f"'{path}' is no checkpoint; name a .pth, .bin or .safetensors file, or a prefix")
    name = given.name.removesuffix(STATE_SUFFIX).removesuffix(WEIGHTS_SUFFIX)
    weights = given if given.suffix in (".bin", ".safetensors") else given.with_name(name + WEIGHTS_SUFFIX)
    state = given.with_name(name + STATE_SUFFIX)
    if not weights.is_file():
        lacking = "" if weights == given else f": '{weights}' does not exist"
        raise FileNotFoundError(f"no checkpoint at '{path}'{lacking}")
    return weights, state if state.is_file() and weights.suffix == WEIGHTS_SUFFIX else None


def pair_names(prefix: Path) -> tuple[Path, Path]:
    """Weights file and trainer-state file of a prefix, whether they exist or not."""
    return prefix.with_name(prefix.name + WEIGHTS_SUFFIX), prefix.with_name(prefix.name + STATE_SUFFIX)


def prefix_of(state: Path) -> Path:
    """The prefix that a trainer-state file belongs to."""
    return state.with_name(state.name.removesuffix(STATE_SUFFIX))


def newest_pair(folder: Path) -> Path:
    """The weights file of the whole pair in a folder that was saved last; damaged ones are passed over with a warning.

    A pair with shards is whole when they are, in length.

    Raises:
        FileNotFoundError: The folder holds no whole pair.
    """
    for state in sorted(folder.glob(f"*{STATE_SUFFIX}"), key=_saved_at, reverse=True):
        weights = state.with_name(state.name.removesuffix(STATE_SUFFIX) + WEIGHTS_SUFFIX)
        if not weights.is_file():
            continue
        try:
            folder_of(load(state, "trainer state", mmap=True).get("optimizer"), prefix_of(state))
            load(weights, mmap=True)
        except ValueError as error:
            logging.getLogger("adapter").warning("%s; looking for an earlier pair", error)
            continue
        return weights
    raise FileNotFoundError(f"no checkpoint pair (*.pth with *{STATE_SUFFIX}) in '{folder}'")


def _saved_at(state: Path) -> float:
    """When a trainer state was saved, as it says itself, since a copy has another time; else as the disk says."""
    try:
        saved: float = torch.load(state, map_location="cpu", weights_only=True, mmap=True)["meta"]["adapter"]["saved"]
    except Exception:  # damaged, which `load` tells and torch says in a dozen ways; or of ModelScope's trainer
        return state.stat().st_mtime
    return saved


def link_or_copy(source: Path, target: Path) -> None:
    """Make ``target`` the same file as ``source``, without a second copy of the data where the disk allows it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{os.getpid()}{PART_SUFFIX}")
    aside.unlink(missing_ok=True)
    try:
        os.link(source, aside)
        os.replace(aside, target)
    except OSError:  # another file system, or one without hard links
        with written_aside(target) as file, source.open("rb") as original:
            shutil.copyfileobj(original, file)
    finally:
        aside.unlink(missing_ok=True)  # renaming a link onto another link to the same file does nothing


def link_shards(prefix: Path, folder: Path) -> None:
    """Make what lies beside a checkpoint in pieces, if anything does, part of ``folder``, as ``link_or_copy``."""
    for shards in shards_of(prefix):
        for file in filter(Path.is_file, shards.rglob("*")):
            link_or_copy(file, folder / shards.name / file.relative_to(shards))


def remove_pair(prefix: Path) -> None:
    """Delete a pair, the weights first, so that a trainer state is never left looking whole without them."""
    for path in pair_names(prefix):
        path.unlink(missing_ok=True)
    remove_shards(prefix)


def before_name(prefix: Path) -> Path:
    """Second name of a pair while another takes its own."""
    return prefix.with_name(f"{prefix.name}{BEFORE_SUFFIX}")
