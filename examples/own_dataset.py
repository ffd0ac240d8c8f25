"""A dataset of one's own is a function that says it returns one, by `-> Dataset`.

cd examples
robustssl check own_dataset:rings
robustssl run own_study.yaml
"""

import numpy as np

from robustssl import Dataset


def rings(rows: int = 600, noise: float = 0.15) -> Dataset:
    """Three rings around each other; classes are 0, 1, 2, ..."""
    rng = np.random.default_rng(0)
    y = np.arange(rows) % 3
    radius, angle = 1 + y + rng.normal(0, noise, rows), rng.uniform(0, 2 * np.pi, rows)
    meta = {"classes": ["inner", "middle", "outer"], "owner": "me", "licence": "CC0"}
    return Dataset("rings", np.c_[radius * np.cos(angle), radius * np.sin(angle)], y, meta=meta)
