"""CheckpointHook: save a checkpoint pair every so many epochs or iterations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.checkpoint.flush import Flusher
from adapter.checkpoint.hub import HubUpload
from adapter.hooks.hook import Hook
from adapter.hooks.priority import Priority
from adapter.hooks.strategy import by_epoch_of
from adapter.registry import HOOKS

if TYPE_CHECKING:
    from adapter.trainer import EpochBasedTrainer


@HOOKS.register_module()
class CheckpointHook(Hook):
    """Saves ``epoch_N`` or ``iter_N`` pairs and keeps the output folder linked to the newest weights.

    Args:
        interval: Epochs or iterations between checkpoints; 0 saves at the end only.
        by_epoch: Count in epochs (True) or iterations (False).
        save_dir: Folder of the checkpoints; the trainer's work_dir by default.
        output_dir: Folder that holds the output folder; ``save_dir`` by default.
        output_sub_dir: Name of the output folder.
        save_last: Save after the last epoch or iteration too, when the interval does not fall on it.
        max_checkpoint_num: Newest pairs to keep; None keeps all.
        save_trainer_state: Save the trainer state beside the weights; without it a run cannot be resumed.
        save_strategy: ``by_epoch``, ``by_step`` or ``no``; wins over ``by_epoch``.
        push_to_hub: Upload the output folder to ModelScope's hub, in the background, whenever something is saved.
        hub_repo_id: Repository to upload to, ``owner/name``.
        hub_token: Token for the upload; the environment's ``MODELSCOPE_API_TOKEN`` by default.
        private_hub: Make the repository private.
        hub_revision: Branch to upload to.
        upload_strategy: A new upload ``cancel``s or ``wait``s for the one that is running.
        save_trainable_only: Leave the parameters that are not trained out of the weights; they come from the model.

    Raises:
        ConfigError: An upload is asked for without a repository, or without the package that does it.
    """

    PRIORITY = Priority.LOW
    RANK = -20
    OUTPUT_SUB_DIR = "output"

    def __init__(
        self,
        interval: int = 0,
        by_epoch: bool = True,
        save_dir: str | None = None,
        output_dir: str | None = None,
        output_sub_dir: str | None = None,
        save_last: bool = True,
        max_checkpoint_num: int | None = None,
        save_trainer_state: bool = True,
        save_strategy: str | None = None,
        push_to_hub: bool = False,
        hub_repo_id: str | None = None,
        hub_token: str | None = None,
        private_hub: bool = True,
        hub_revision: str = "master",
        upload_strategy: str = "cancel",
        save_trainable_only: bool = False,
    ) -> None:
        self.interval = interval
        self.by_epoch = by_epoch_of("save_strategy", save_strategy, by_epoch)
        self.save_dir = save_dir
        self.output_dir = output_dir
        self.output_sub_dir = output_sub_dir or self.OUTPUT_SUB_DIR
        self.save_last = save_last
        self.max_checkpoint_num = None if max_checkpoint_num is None else max(int(max_checkpoint_num), 1)
        self.save_trainer_state = save_trainer_state
        self.save_trainable_only = save_trainable_only
        self.history: list[str] = []  # names of the pairs to keep, oldest first
        self.leaving: list[str] = []  # names of those that go once the newest is on the disk
        self.flusher = Flusher()
        target = hub_repo_id, hub_token, private_hub, hub_revision, upload_strategy
        self.upload = HubUpload(*target) if push_to_hub else None

    @property
    def folder(self) -> Path:
        """Where the checkpoints are."""
        return Path(self.save_dir or "")

    @property
    def output_folder(self) -> Path:
        """Where the newest weights are linked."""
        return Path(self.output_dir or self.save_dir or "") / self.output_sub_dir

    def before_run(self, trainer: EpochBasedTrainer) -> None:
        """Settle the folder, clear what a killed run left in it, and begin the output folder."""
        from adapter.aside import remove_parts
        from adapter.checkpoint.output_folder import begin_output

        self.save_dir = self.save_dir or trainer.work_dir
        if trainer.is_main_process:
            for folder in (self.folder, self.output_folder):
                remove_parts(folder)
        self._delete_leaving()
        self._pass(trainer.resumed_pair)
        begin_output(trainer, self.output_folder)
        trainer.logger.info("Checkpoints will be saved to %s", self.save_dir)

    def after_train_epoch(self, trainer: EpochBasedTrainer) -> None:
        """Save when counting in epochs and a checkpoint is due."""
        if not self.by_epoch:
            return
        if self.every_n_epochs(trainer, self.interval) or (self.save_last and self.is_last_epoch(trainer)):
            self.save(trainer, f"epoch_{trainer.epoch + 1}")
            trainer.logger.info("Saving checkpoint at %d epoch", trainer.epoch + 1)

    def after_train_iter(self, trainer: EpochBasedTrainer) -> None:
        """Save when counting in iterations and a checkpoint is due."""
        if self.by_epoch is not False:
            return
        if self.every_n_iters(trainer, self.interval) or (self.save_last and self.is_last_iter(trainer)):
            self.save(trainer, f"iter_{trainer.iter + 1}")
            trainer.logger.info("Saving checkpoint at %d iter", trainer.iter + 1)

    def after_run(self, trainer: EpochBasedTrainer) -> None:
        """Wait until everything is on the disk, and uploaded when that is asked for."""
        self.flusher.wait()
        if self.upload:
            self.upload.wait(trainer, self.output_folder)

    def save(self, trainer: EpochBasedTrainer, name: str) -> None:
        """Save the weights of a pair now, and the rest when the hooks of this stage have run.

        The trainer state is that of the stage's end, so that a resumed run repeats nothing of the stage (a log line, an
        early-stop check) and misses nothing of it.

        Args:
            trainer: The trainer.
            name: Name of the pair, without suffix.

        Raises:
            TypeError: A hook's state or a metric's value could not be loaded again.
        """
        from adapter.checkpoint.output_folder import write_output
        from adapter.checkpoint.state import refuse_unloadable, save_weights

        if self.save_trainer_state:
            refuse_unloadable(trainer)
        partly = self.save_trainable_only or trainer.plan.tuners.save_trainable_only
        with trainer.averaged_weights():
            weights = save_weights(trainer, self.folder / name, partly)
            write_output(trainer, self.output_folder, weights, partly)
        names = [*(other for other in self.history if other != name), name]
        surplus = max(len(names) - (self.max_checkpoint_num or len(names)), 0)
        self.leaving += names[:surplus]
        self.history = names[surplus:]
        trainer.at_stage_end(lambda: self.complete(trainer, name))

    def complete(self, trainer: EpochBasedTrainer, name: str) -> None:
        """Save the trainer state of a pair; once the pair is on the disk, delete those it takes the place of."""
        from adapter.checkpoint.files import pair_names
        from adapter.checkpoint.state import save_trainer_state

        if self.save_trainer_state:
            save_trainer_state(trainer, self.folder / name)
        if not trainer.is_main_process:
            self.leaving.clear()
            return
        self.flusher.add(pair_names(self.folder / name))
        if self.leaving:
            self.flusher.wait()
            self._delete_leaving()
        if self.upload:
            self.upload.start(trainer, self.output_folder, name)

    def _pass(self, resumed: Path | None) -> None:
        """Let the pair of an interruption that this run goes on from leave with the next pair that is saved."""
        from adapter.checkpoint.files import INTERRUPTED, before_name

        names = [path.name for path in (Path(INTERRUPTED), before_name(Path(INTERRUPTED)))]
        if self.save_trainer_state and resumed and resumed.name in names and resumed.parent.samefile(self.folder):
            self.leaving += names

    def _delete_leaving(self) -> None:
        from adapter.checkpoint.files import remove_pair

        for name in self.leaving:
            remove_pair(self.folder / name)
        self.leaving = []

    def state_dict(self) -> dict[str, Any]:
        """Names of the pairs on disk: those to keep, and those about to go."""
        return {"history": list(self.history), "leaving": list(self.leaving)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the pairs of the run that is resumed."""
        self.history = list(state_dict.get("history", []))
        self.leaving = list(state_dict.get("leaving", []))
