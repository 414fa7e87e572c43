"""HubUpload: checkpoints to ModelScope's hub, by ModelScope's own package."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.errors import ConfigError, Problem
from adapter.installed import has_modelscope

if TYPE_CHECKING:
    from adapter.config import Config
    from adapter.trainer import EpochBasedTrainer

SAVERS = ("train.checkpoint.period", "train.checkpoint.best")


def without_tokens(config: Config) -> Config:
    """A copy of a config without the tokens of uploads: what is logged, or uploaded, is read by others."""
    copied = copy.deepcopy(config)
    for saver in SAVERS:
        arguments = copied.safe_get(saver)
        if isinstance(arguments, dict):
            arguments.pop("hub_token", None)
    return copied


class HubUpload:
    """Uploads a folder in the background.

    Args:
        repo_id: Repository, ``owner/name``.
        token: None for the environment's ``MODELSCOPE_API_TOKEN``.
        private: Make the repository private.
        revision: Branch.
        strategy: What a new upload does to one that is running: ``cancel`` or ``wait``.

    Raises:
        ConfigError: No repository, or ModelScope is not installed.
    """

    def __init__(self, repo_id: str | None, token: str | None, private: bool, revision: str, strategy: str) -> None:
        problems = []
        if not repo_id:
            fix = 'name the repository, such as "me/my-model"'
            problems.append(Problem("hub_repo_id", "push_to_hub does not say where to", kind="missing", fix=fix))
        if not has_modelscope():
            fix = "pip install 'ms-lightning-adapter[modelscope]', or leave push_to_hub out"
            problems.append(Problem("push_to_hub", "uploading needs the package modelscope", kind="name", fix=fix))
        if problems:
            raise ConfigError(problems)
        self.repo_id = str(repo_id)
        self.options: dict[str, Any] = {"token": token, "private": private, "revision": revision}
        self.strategy = strategy

    def start(self, trainer: EpochBasedTrainer, folder: Path, name: str) -> None:
        """Upload a folder, from the main process; ``name`` is that of the checkpoint."""
        if not trainer.is_main_process:
            return
        from modelscope.hub.push_to_hub import push_to_hub_in_queue

        trainer.logger.info("Uploading %s to %s", name, self.repo_id)
        push_to_hub_in_queue(
            str(folder),
            self.strategy,
            repo_name=self.repo_id,
            output_dir=str(folder),
            commit_message=name,
            **self.options,
        )

    def wait(self, trainer: EpochBasedTrainer, folder: Path) -> None:
        """Wait until the uploads of a folder are done."""
        if not trainer.is_main_process:
            return
        from modelscope.hub.push_to_hub import wait_for_done

        trainer.logger.info("Waiting for the uploads to %s", self.repo_id)
        wait_for_done(str(folder))
