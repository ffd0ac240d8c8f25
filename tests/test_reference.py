"""The published benchmark's own splits: the proof that they are, and pins that keep them so."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from test_results import RESULTS

import robustssl
from robustssl import InputError
from robustssl.analysis.metrics import GRID
from robustssl.records.results import read
from robustssl.splits import prepare

KINDS = ("distribution", "feature", "label")

# Of the splits of all t and of seeds 0 to 4, so that nothing moves them unnoticed.
DIGESTS = {
    ("iris", "distribution", 5): "04feb83ba939e75e",
    ("iris", "distribution", 10): "77a975d779511f3d",
    ("iris", "feature", 5): "3187c20952921769",
    ("iris", "feature", 10): "3839bc53118a70f3",
    ("iris", "label", 5): "57465295790db1d7",
    ("iris", "label", 10): "78a730d2cfb2be29",
    ("wine", "distribution", 5): "6fc3633451658cda",
    ("wine", "distribution", 10): "262289a17df2de4e",
    ("wine", "feature", 5): "e37bf370d5bf64a7",
    ("wine", "feature", 10): "fb0e72516855c8f3",
    ("wine", "label", 5): "85e32b82bdb72930",
    ("wine", "label", 10): "347c2d6959bc7304",
}


def splits(dataset, kind, labels):
    for seed in range(5):
        for t in GRID:
            yield prepare(dataset, f"reference[kind={kind}]", labels, seed).split(t)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dataset", ["iris", "wine"])
@pytest.mark.parametrize("labels", [5, 10])
def test_pinned(dataset, kind, labels):
    joined = "".join(split.digest for split in splits(dataset, kind, labels))
    assert hashlib.sha256(joined.encode()).hexdigest()[:16] == DIGESTS[dataset, kind, labels]


@pytest.mark.filterwarnings("ignore:max_iter")
@pytest.mark.parametrize(
    ("name", "published"),
    [("label_propagation", "LabelPropagation"), ("label_spreading", "LabelSpreading")],
)
def test_graph_methods_agree_with_the_published_means_to_the_last_digit(name, published):
    """On 32 of 35 points; the start of wine's label curve is that of its feature curve."""
    theirs = read(RESULTS / "published.csv").query("algorithm == @published and labels == 5")
    theirs = theirs.set_index(["environment", "dataset", "t"]).score
    agree = []
    for dataset in ("iris", "wine"):
        for kind in KINDS:
            scores = [
                robustssl.estimator(name, preset="reference")
                .fit(s.X, s.y)
                .score(s.X_test, s.y_test)
                for s in splits(dataset, kind, 5)
            ]
            for t, mean in zip(GRID, np.reshape(scores, (5, 6)).mean(0), strict=True):
                if (kind, dataset, t) != ("label", "wine", 0):
                    agree.append(abs(mean - theirs[kind, dataset, t]) < 1e-8)
    assert len(agree) == 35
    assert sum(agree) >= 32


def test_it_is_what_it_is_blamed_for():
    """Unlabeled rows hold test rows at t = 0, and their number depends on t."""
    at = {t: prepare("wine", "reference[kind=distribution]", 5, 0).split(t) for t in (0.0, 0.4)}
    unlabeled = at[0.0].rows[at[0.0].y == -1]
    assert set(unlabeled) & set(at[0.0].test_rows)
    label = [prepare("wine", "reference[kind=label]", 5, 0).split(t) for t in (0.0, 0.6)]
    assert (label[0].y == -1).sum() != (label[1].y == -1).sum()


def test_each_part_is_scaled_by_itself():
    split = prepare("wine", "reference[kind=feature]", 5, 0).split(0.4)
    unlabeled = split.y == -1
    for part in (split.X[unlabeled], split.X[~unlabeled]):
        assert part.mean(0) == pytest.approx(0, abs=1e-9)


def test_labels_of_wine_are_stratified_not_even():
    split = prepare("wine", "reference[kind=feature]", 5, 0).split(0.0)
    assert np.bincount(split.y[split.y != -1]).tolist() == [5, 6, 4]


def test_refusals():
    with pytest.raises(InputError, match="did you mean 'label'"):
        robustssl.environment("reference[kind=labels]")
    with pytest.raises(InputError, match="leave no test rows"):
        prepare("iris", "reference[kind=label]", 40, 0)


def test_it_is_marked_in_reports(tmp_path):
    study = {
        "algorithms": "label_spreading[preset=reference]",
        "environments": "reference[kind=label]",
        "datasets": "wine",
    }
    robustssl.run(study, tmp_path / "s.sqlite", workers=1)
    robustssl.report(tmp_path / "s.sqlite", tmp_path)
    page = (tmp_path / "table.md").read_text()
    assert "## wine, unknown classes (published protocol), 5 labels a class" in page
    assert set(pd.read_csv(tmp_path / "table.csv").environment) == {"reference[kind=label]"}
