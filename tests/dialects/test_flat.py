from __future__ import annotations

import pytest

from adapter.config.config import Config
from adapter.dialects.flat import move_flat_keys

STEPS = {"options": {"by_epoch": False}}


@pytest.mark.parametrize(
    ("flat", "documented"),
    [
        ({"train": {"batch_size": 8}}, {"train": {"dataloader": {"batch_size_per_gpu": 8}}}),
        ({"evaluation": {"batch_size": 8}}, {"evaluation": {"dataloader": {"batch_size_per_gpu": 8}}}),
        ({"train": {"learning_rate": 0.1}}, {"train": {"optimizer": {"type": "AdamW", "lr": 0.1}}}),
        (
            {"train": {"learning_rate": 0.1, "optimizer": {"type": "SGD"}}},
            {"train": {"optimizer": {"type": "SGD", "lr": 0.1}}},
        ),
        (
            {"train": {"learning_rate": 0.1, "optimizer": {"type": "SGD", "lr": 1.0}}},
            {"train": {"optimizer": {"type": "SGD", "lr": 1.0}}},
        ),
        (
            {"train": {"lr_scheduler_type": "cosine", "num_steps": 90, "max_epochs": 2}},
            {"train": {"max_epochs": 2, "lr_scheduler": {"type": "CosineAnnealingLR", "T_max": 90, **STEPS}}},
        ),
        (
            {"train": {"lr_scheduler_type": "cosine", "num_steps": 90}},
            {"train": {"num_steps": 90, "lr_scheduler": {"type": "CosineAnnealingLR", "T_max": 90, **STEPS}}},
        ),
        (
            {"train": {"lr_scheduler_type": "linear", "max_epochs": 3}},
            {
                "train": {
                    "max_epochs": 3,
                    "lr_scheduler": {
                        "type": "LinearLR",
                        "start_factor": 1.0,
                        "end_factor": 0.0,
                        "total_iters": 3,
                    },
                }
            },
        ),
        (
            {"train": {"lr_scheduler_type": "PolynomialLR"}},
            {"train": {"lr_scheduler": {"type": "PolynomialLR"}}},
        ),
        ({"train": {"num_steps": 90, "max_epochs": 2}}, {"train": {"max_epochs": 2}}),
        ({"train": {"num_steps": 90}}, {"train": {"num_steps": 90}}),
        ({"dataset": {"valid": {"file": "a.tsv"}}}, {"dataset": {"val": {"file": "a.tsv"}}}),
        (
            {"preprocessor": {"type": "Tokenize"}, "evaluation": {"max_sequence_length": 9}},
            {"preprocessor": {"type": "Tokenize", "max_length": 9}, "evaluation": {}},
        ),
        ({"evaluation": {"max_sequence_length": 9}}, {"evaluation": {"max_sequence_length": 9}}),
        ({"train": {"max_epochs": 3}}, {"train": {"max_epochs": 3}}),
        (
            {"model": {"path": "bert", "hidden_size": 768, "num_classes": 5}, "train": {"batch_size": 8}},
            {"model": {"path": "bert", "num_labels": 5}, "train": {"dataloader": {"batch_size_per_gpu": 8}}},
        ),
        (
            {"model": {"hidden_size": 768, "num_classes": 5}, "train": {"batch_size": 8}},
            {
                "model": {"hidden_size": 768, "num_classes": 5},
                "train": {"dataloader": {"batch_size_per_gpu": 8}},
            },
        ),
        ({"model": {"path": "bert", "vocab_size": 9}}, {"model": {"path": "bert", "vocab_size": 9}}),
    ],
)
def test_moves(flat, documented):
    config = Config(flat)
    move_flat_keys(config)
    assert config == documented


@pytest.mark.parametrize(
    ("flat", "moves"),
    [
        (
            {"train": {"batch_size": 8}},
            [("train.batch_size", "train.dataloader.batch_size_per_gpu", "moved")],
        ),
        (
            {"train": {"batch_size": 8, "dataloader": {"batch_size_per_gpu": 2}}},
            [("train.batch_size", "", "dropped")],
        ),
        (
            {"train": {"lr_scheduler_type": "linear", "num_steps": 9, "max_epochs": 2}},
            [
                ("train.lr_scheduler_type", "train.lr_scheduler.type", "moved"),
                ("train.num_steps", "train.lr_scheduler.total_iters", "moved"),
            ],
        ),
        ({"train": {"num_steps": 9, "max_epochs": 2}}, [("train.num_steps", "", "dropped")]),
        ({"train": {"num_steps": 9}}, []),
        ({"train": "x", "evaluation": None}, []),
    ],
)
def test_every_move_is_told(flat, moves):
    assert [(move.key, move.to, move.fate) for move in move_flat_keys(Config(flat))] == moves


def test_a_value_that_is_no_section_is_left_in_place():
    config = Config({"train": {"batch_size": 8, "dataloader": "fast"}})
    assert move_flat_keys(config) == []
    assert config == {"train": {"batch_size": 8, "dataloader": "fast"}}
