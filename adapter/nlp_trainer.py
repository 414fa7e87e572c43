"""NlpEpochBasedTrainer: labels and column names of text data, read from the config."""

from __future__ import annotations

from typing import Any

from adapter.config import Config
from adapter.registry import TRAINERS
from adapter.trainer import EpochBasedTrainer

COLUMNS = ("first_sequence", "second_sequence", "label")


@TRAINERS.register_module(module_name="nlp-base-trainer")
class NlpEpochBasedTrainer(EpochBasedTrainer):
    """Trains on texts: hands labels and column names of the config to the preprocessor and the model.

    ``dataset.train.labels`` lists every label; ``first_sequence``, ``second_sequence`` and ``label`` of
    ``dataset.train`` and ``dataset.val`` name columns. The preprocessors get them, and ``label2id``, where their
    constructors have parameters of these names; the model gets ``num_labels``, ``id2label`` and ``label2id`` likewise.

    Attributes:
        label2id: Label to its number; None when the config lists none.
        id2label: Number to label.
        num_labels: Labels there are.
        train_keys: ``first_sequence``, ``second_sequence`` and ``label`` of the training data, those that are given.
        eval_keys: The same of the evaluation data; the training data's when ``dataset.val`` names none.
    """

    label2id: dict[str, int] | None = None
    id2label: dict[int, str] | None = None
    num_labels: int | None = None

    def rebuild_config(self, cfg: Config) -> Config:
        """Change the config in code, then read labels and columns from it."""
        cfg = super().rebuild_config(cfg)
        self.prepare_labels(cfg)
        train, val = (self._columns(cfg, mode) for mode in ("train", "val"))
        self.train_keys, self.eval_keys = train, val or train
        return cfg

    def prepare_labels(self, cfg: Config) -> None:
        """Number the labels of ``dataset.train.labels``, and note them in the config's model section."""
        labels = cfg.safe_get("dataset.train.labels")
        if not labels:
            return
        self.label2id = {label: number for number, label in enumerate(labels)}
        self.id2label = dict(enumerate(labels))
        self.num_labels = len(labels)
        cfg.merge_from_dict({"model.label2id": self.label2id, "model.id2label": self.id2label})

    def preprocessor_arguments(self, mode: str) -> dict[str, Any]:
        """The mode, the columns and the labels."""
        return {**super().preprocessor_arguments(mode), "label2id": self.label2id}

    @staticmethod
    def _columns(cfg: Config, mode: str) -> dict[str, str]:
        given = {name: cfg.safe_get(f"dataset.{mode}.{name}") for name in COLUMNS}
        return {name: column for name, column in given.items() if column is not None}
