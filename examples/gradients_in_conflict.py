"""How often GGR's two gradients oppose each other, and how much of the unlabeled one it takes away.

python examples/gradients_in_conflict.py
"""

import numpy as np

from robustssl import registry
from robustssl.algorithms.ggr import GGR
from robustssl.splits import prepare

SEEDS, STEPS = 5, 500
met: list[tuple[float, float, float]] = []


class Watched(GGR):
    """GGR, looked over the shoulder."""

    def combine(self, labeled, unlabeled):
        met.append((float(labeled.norm()), float(unlabeled.norm()), float(labeled @ unlabeled)))
        return super().combine(labeled, unlabeled)


options = registry.estimator("ggr", steps=STEPS).get_params()
for seed in range(SEEDS):
    split = prepare("digits", "label", 5, seed).split(1.0)
    Watched(**{**options, "random_state": seed}).fit(split.X, split.y)

steps = np.array(met).reshape(SEEDS, STEPS, 3)
print("steps      |labeled|  |unlabeled|  oppose  of it taken away")
for first, last in ((0, 50), (50, 150), (150, 300), (300, 500)):
    g_l, g_u, product = np.moveaxis(steps[:, first:last], -1, 0)
    against = product < 0
    taken = np.where(against, -product / np.maximum(g_l * g_u, 1e-12), 0)
    print(
        f"{first:3}-{last:3}    {np.median(g_l):9.4f}  {np.median(g_u):11.4f}"
        f"  {against.mean():6.0%}  {taken.mean():6.0%}"
    )
