"""How far views of texts lie from their texts, by what they change: why SHARES of views/texts.py
are what they are. Reviews of films, which no ranking uses, encoded by minilm.

    python experiments/text_views.py > text_views.txt
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

from robustssl import registry
from robustssl.encoders import digests_of
from robustssl.encoders._sentences import encoded
from robustssl.views.texts import SHARES, Shares, changed

ROWS = 400
TRIED = [
    *(Shares(0.0, 0.05, 0.1), Shares(0.0, 0.1, 0.1), Shares(0.0, 0.1, 0.2)),
    *(Shares(0.5, 0.0, 0.0), Shares(1.0, 0.0, 0.0), Shares(0.0, 0.3, 0.0), Shares(0.0, 0.0, 0.3)),
    *(Shares(0.5, 0.1, 0.2), Shares(0.5, 0.2, 0.2), Shares(0.5, 0.3, 0.3), Shares(1.0, 0.4, 0.4)),
]


def main() -> None:
    data, minilm = registry.dataset("movie_reviews"), registry.encoder("minilm")
    rows = np.random.default_rng(0).permutation(len(data.y))[: 4 * ROWS]
    clean = minilm.vectors(data.X[rows]).astype(float)
    probe = LogisticRegression(max_iter=1000).fit(clean[ROWS:], data.y[rows[ROWS:]])
    texts, own, y = data.X[rows[:ROWS]], clean[:ROWS], data.y[rows[:ROWS]]
    between = np.linalg.norm(own[:, None] - own[None], axis=2)
    others = (y[:, None] == y[None]) & ~np.eye(ROWS, dtype=bool)
    other = np.median([np.median(between[i, others[i]]) for i in range(ROWS)])
    print(f"{ROWS} texts; median distance to another text of the class {other:.3f}, to the nearest")
    nearest = np.median(np.where(others, between, np.inf).min(1))
    print(f"one {nearest:.3f}; a linear probe is right on {probe.score(own, y):.3f} of the texts\n")
    print("moved dropped replaced  distance  of another's  farther than   nearest text  probe is")
    print("                        (median)  distance      the nearest    is its own    right")
    for shares in TRIED:
        chance = [np.random.default_rng([*digest, 1]) for digest in digests_of(texts)]
        views = [changed(t, shares, rng) for t, rng in zip(texts, chance, strict=True)]
        found = encoded(views, minilm.folder, minilm.tokens)
        far = np.linalg.norm(found - own, axis=1)
        beyond = (far > np.where(others, between, np.inf).min(1)).mean()
        hits = (np.linalg.norm(found[:, None] - own[None], axis=2).argmin(1) == range(ROWS)).mean()
        told = "".join(f" {name}" for name, chosen in SHARES.items() if chosen == shares)
        print(
            f"{shares.moved:5.2f} {shares.dropped:7.2f} {shares.replaced:8.2f} "
            f"{np.median(far):9.3f} {np.median(far) / other:13.2f} {beyond:13.3f} "
            f"{hits:14.3f} {probe.score(found, y):9.3f} {told}",
            flush=True,
        )


if __name__ == "__main__":
    main()
