"""Budgets: what all deep methods of a study share, so that they train equally long."""

from typing import Any

BUDGETS: dict[str, dict[str, Any]] = {
    "quick": {},
    "reference": {
        "net": "auto",
        "steps": 1000,
        "batch": 64,
        "learning_rate": 1e-4,
        "schedule": "constant",
        "weight_decay": 1e-5,
        "decay": "coupled",  # as in the published runs
        "ema": 0.999,
        "clip": None,
    },
    "full": {
        "net": "auto",
        "steps": 10_000,
        "batch": 64,
        "learning_rate": 1e-4,
        "weight_decay": 1e-5,
        "ema": 0.999,
    },
    # Those of the leaderboard, by the kind of data: docs/decisions/0009-leaderboard.md.
    "table": {"net": "mlp[width=256]", "steps": 1000},
    "image": {"net": "mlp[width=256]", "steps": 1000, "learning_rate": 5e-4},
    "text": {"steps": 1000},
    # Of a pretrained encoder: experiments/vectors_budget.py.
    "vectors": {"net": "mlp[width=256]"},
}
