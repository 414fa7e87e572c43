"""Going on where a run stopped: what a trainer state puts back, and where."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.checkpoint import files
from adapter.checkpoint.files import prefix_of
from adapter.checkpoint.fit import refuse_other_optimizer
from adapter.checkpoint.state import numbered_hooks
from adapter.checkpoint.steppers import class_names, each, load_state
from adapter.seeding import set_random_state

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer

OLDER_HOOK_KEY = re.compile(r"\.(\w+)'>-\d+$")  # "<class 'modelscope...BestCkptSaverHook'>-3"


def restore(trainer: EpochBasedTrainer, state: Mapping[str, Any], path: Path) -> None:
    """Put back counters, optimizer, schedule, loss scaler and hooks.

    Args:
        trainer: In stage before_run.
        state: A trainer state of this package, or of ModelScope's trainer.
        path: The file it comes from.

    Raises:
        ValueError: Not a trainer state, or one of another optimizer.
    """
    try:
        meta = state["meta"]
        epoch, iteration, inner_iter = meta["epoch"], meta["iter"], meta["inner_iter"]
    except (KeyError, TypeError) as error:
        raise ValueError(f"'{path}' is not a trainer state: it lacks {error}") from error
    own = meta.get("adapter")
    _load_steppers(trainer, state, own or {}, path)
    if own is None:
        epoch, iteration, inner_iter = _place_of_older(trainer, epoch, iteration, inner_iter, path)
    trainer.go_to(epoch, iteration, inner_iter)
    _load_hooks(trainer, own["hooks"] if own else _hooks_of_older(meta))
    if own:
        trainer.module.load_loss_scale_state(own.get("loss_scale", {}))
        trainer.metric_values = own["metric_values"]
        trainer._stop_training = own["stop"]


def found_before(path: str | Path) -> dict[str, Any]:
    """What a search found before the run of a checkpoint began, by key of the config; empty when there was none.

    Raises:
        FileNotFoundError: No such checkpoint.
        ValueError: It is damaged.
    """
    state = files.pair(path)[1]
    meta = files.load(state, "trainer state", mmap=True).get("meta", {}) if state is not None else {}
    return dict((meta.get("adapter") or {}).get("found") or {})


def restore_moment(trainer: EpochBasedTrainer, meta: Mapping[str, Any]) -> None:
    """Put back what the hooks of before_run would disturb: gradients, log buffer and random states.

    Args:
        trainer: At the end of stage before_run.
        meta: ``meta`` of the trainer state that ``restore`` was given.
    """
    own = meta.get("adapter")
    if own is not None:
        own = _of_this_process(trainer, own)
    if own is None:
        if trainer.inner_iter == 0:
            set_random_state(meta["rng_state"])
        else:
            trainer.stream.go_on(trainer.inner_iter, None, meta["rng_state"])
        return
    trainer.strategy.load_gradients(trainer.unwrap_module(trainer.model), own["gradients"])
    if trainer.inner_iter == 0:
        trainer.stream.set_random_state(own["random"])
        return
    trainer.log_buffer.load_state_dict(own["log_buffer"])
    trainer.stream.go_on(trainer.inner_iter, own["epoch_random"], own["random"])


def _of_this_process(trainer: EpochBasedTrainer, own: Mapping[str, Any]) -> Mapping[str, Any]:
    """What this process had of its own; the main one's when there were fewer."""
    everybody = [own, *own.get("others", [])]
    rank, size = trainer.processes.rank, trainer.processes.size
    if len(everybody) != size:
        trainer.logger.warning(
            "the run to go on with had %d processes, this one has %d: the random states%s differ from here on",
            len(everybody),
            size,
            " and the order of the epoch's rest" if trainer.inner_iter else "",
        )
    return everybody[rank] if rank < len(everybody) else own


def _load_steppers(trainer: EpochBasedTrainer, state: Mapping[str, Any], own: Mapping[str, Any], path: Path) -> None:
    """Optimizer and schedule."""
    refuse_other_optimizer(own.get("optimizer"), trainer.optimizer, path)
    for name, stepper in (("optimizer", trainer.optimizer), ("lr_scheduler", trainer.lr_scheduler)):
        if stepper is None or state.get(name) is None:
            continue
        try:
            if name == "optimizer":
                trainer.strategy.load_optimizer_state(trainer, state[name], prefix_of(path))
            else:
                load_state(stepper, state[name])
        except (KeyError, ValueError) as error:
            raise ValueError(
                f"the {name} in '{path}' does not fit this run's {class_names(stepper)}: {error}"
            ) from error
    # torch warns of a schedule that steps before its optimizer has; it has stepped, in the run that is resumed
    for optimizer in each(trainer.optimizer):
        optimizer._opt_called = True


def _place_of_older(
    trainer: EpochBasedTrainer, epoch: int, iteration: int, inner_iter: int, path: Path
) -> tuple[int, int, int]:
    """Where ModelScope's trainer stopped; at an epoch's end its counters are one iteration ahead (measured)."""
    done = (epoch + 1) * trainer.iters_per_epoch
    if iteration > done:
        return epoch + 1, done, 0
    if iteration == done:  # saved in the last iteration, before the hooks of the epoch's end
        return epoch, iteration, inner_iter
    trainer.logger.warning(
        "'%s' was written by ModelScope in the middle of an epoch: it does not say in which order the epoch's rest "
        "was to come, so the order differs from here to the epoch's end",
        path,
    )
    return epoch, iteration, inner_iter


def _hooks_of_older(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Hook states of ModelScope's trainer under our keys; the first of each class."""
    found: dict[str, Any] = {}
    for key, value in meta.items():
        match = OLDER_HOOK_KEY.search(key)
        if match and value:
            found.setdefault(f"{match.group(1)}-0", value)
    return found


def _load_hooks(trainer: EpochBasedTrainer, states: Mapping[str, Any]) -> None:
    for key, hook in numbered_hooks(trainer):
        if key in states:
            hook.load_state_dict(states[key])
