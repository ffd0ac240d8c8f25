"""Why some methods with their authors' settings collapse on consistent rows.

    python experiments/collapse.py

The accuracy of each method and of variants of it, the mean over ten seeds, on four kinds of
consistent rows (`robustssl.checks`). `ramped`: the weight of the unlabeled loss rises over the
first .4 of the steps, which the authors do not do.
"""

from dataclasses import dataclass

import numpy as np

from robustssl.algorithms.freematch import FreeMatch
from robustssl.algorithms.softmatch import SoftMatch
from robustssl.checks._gains import COLLAPSE_SEEDS, _results
from robustssl.checks._worlds import WORLDS


class Ramped:
    def loss(self, net, params, batch, state):
        labeled, unlabeled, after = super().loss(net, params, batch, state)
        return labeled, self.ramp(batch, 0.4) * unlabeled, after


@dataclass(eq=False, repr=False, kw_only=True)
class RampedFreeMatch(Ramped, FreeMatch):
    pass


@dataclass(eq=False, repr=False, kw_only=True)
class RampedSoftMatch(Ramped, SoftMatch):
    pass


RAMPED = {
    "freematch, ramped": "collapse:RampedFreeMatch",
    "softmatch, ramped": "collapse:RampedSoftMatch",
}
VARIANTS = [
    "supervised_net",
    *("freematch", "freematch, ramped", "freematch[memory=0.999]", "freematch[steps=3000]"),
    *("softmatch", "softmatch, ramped", "softmatch[memory=0.999]", "softmatch[steps=3000]"),
    *("mixmatch", "mixmatch[warmup=0.015625]", "mixmatch[steps=3000,warmup=0.015625]"),
    *("mixmatch[warmup=0.4]", "mtcf", "mtcf[start=0.0]", "mtcf[weight=0.0]", "mtcf[steps=3000]"),
    *("ict", "ict[warmup=1.0]", "ict[warmup=1.0,weight=10.0]", "ict[alpha=0.1,warmup=1.0]"),
    "ict[steps=3000,warmup=1.0]",
]


def main():
    print(" " * 40 + "  ".join(world.__name__ for world in WORLDS))
    for name in VARIANTS:
        means = (
            np.mean([score for score, _ in _results(RAMPED.get(name, name), world, COLLAPSE_SEEDS)])
            for world in WORLDS
        )
        told = (f"{mean:.3f}".rjust(len(w.__name__)) for mean, w in zip(means, WORLDS, strict=True))
        print(f"{name:40}" + "  ".join(told), flush=True)


if __name__ == "__main__":
    main()
