"""Which weight decay and how many steps perceptrons on vectors of a pretrained encoder should have.

    python experiments/vectors_budget.py

The budget `vectors` is shared by all methods of a study, so it is chosen by the mean of several of
them, at t = 0 and t = .5, on data that no leaderboard ranks: Fashion-MNIST behind
efficientnet_lite0, film reviews behind minilm. A line for each choice: the accuracy of each method,
mean over data, t and three seeds.

Decay is decoupled (AdamW). No value is told apart from the default of .01, nor 2,000 steps from
500, so the budget keeps both. (Coupled to the gradient, and with the defaults of that time, .03 had
gained .02 over 1e-4.)
"""

from itertools import product
from statistics import mean

from robustssl import registry
from robustssl.splits import prepare

VIEWS = "strong=3,weak=2"
DATA = [
    (f"fashion_mnist[encoder=efficientnet_lite0[{VIEWS}]]", "label[test=1000,unlabeled=700]"),
    (f"movie_reviews[encoder=minilm[{VIEWS}]]", "feature[test=1000,unlabeled=700]"),
]
METHODS = ("supervised_net", "fixmatch", "mean_teacher", "softmatch")
GRID = [  # steps, decay
    *((500, decay) for decay in (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)),
    *((2000, decay) for decay in (0.01, 0.1, 1.0, 3.0)),
]
TS, SEEDS, LABELS = (0.0, 0.5), range(3), 5


def accuracies(name, splits, **options):
    ratio = {} if name.startswith("supervised") else {"ratio": 3}
    models = [
        registry.estimator(name, net="mlp[width=256]", random_state=seed, **ratio, **options)
        for seed, _ in splits
    ]
    errors = models[0].fit_together(models, [(split.X, split.y) for _, split in splits])
    assert not any(errors), errors
    pairs = zip(models, splits, strict=True)
    return [model.score(split.X_test, split.y_test) for model, (_, split) in pairs]


def main():
    tasks = [
        [
            (seed, prepare(data, environment, LABELS, seed).split(t, views=True))
            for seed, t in product(SEEDS, TS)
        ]
        for data, environment in DATA
    ]
    for steps, decay in GRID:
        found = {
            name: mean(
                score
                for splits in tasks
                for score in accuracies(name, splits, steps=steps, weight_decay=decay)
            )
            for name in METHODS
        }
        told = "  ".join(f"{name} {score:.3f}" for name, score in found.items())
        print(
            f"steps {steps:4}  decay {decay:6g}  {told}  mean {mean(found.values()):.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
