"""Environments on tables, images and texts, with every option: only t moves anything."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robustssl
from robustssl import InputError, registry
from robustssl.data import as_array, digest
from robustssl.environments import blend, count
from robustssl.execution.worker import run_group
from robustssl.preprocessing import preprocessing
from robustssl.records.catalog import data_kind
from robustssl.spec import parse, spell
from robustssl.splits import prepare

PLACES = [
    ("distribution", "toy:tables"),
    ("distribution[source=there,target=here]", "toy:tables"),
    ("distribution", "toy:images"),
    ("distribution", "toy:texts"),
    ("label", "toy:images"),
    ("label", "toy:texts"),
    ("feature", "toy:images"),
    ("feature", "toy:grey"),
    ("feature", "toy:texts"),
    ("label+feature", "toy:images"),
    ("label+feature", "wine"),
    ("distribution+feature", "toy:texts"),
    ("prior", "digits"),
    ("prior[labeled=tail]", "toy:images"),
    ("prior", "toy:texts"),
    ("prior+feature", "digits"),
    ("label[known=drawn]", "digits"),
    ("label[unknown=near]", "digits"),
    ("label[unknown=far]", "toy:images"),
    ("label[unknown=toy:news]", "toy:texts"),
    ("distribution[labeled=biased]", "wine"),
    ("distribution[labeled=biased]", "toy:images"),
    ("distribution[labeled=biased]", "toy:texts"),
]
places = st.sampled_from(PLACES)
ts = st.floats(0, 1).map(lambda t: round(t, 6))
steady = settings(max_examples=40, deadline=None)


def with_options(spec, **options):
    name, there = parse(spec)
    return registry.canonical("environment", spell(name, {**there, **options}))


def raw(place, t, labels=3, seed=0, **options):
    """The split before any preprocessing, and its pools."""
    environment = robustssl.environment(with_options(place[0], **options))
    pools = prepare(place[1], with_options(place[0], **options), labels, seed).pools
    return environment.split(pools, t), pools


@steady
@given(places, ts, ts, st.sampled_from(["replace", "add"]), st.integers(0, 5))
def test_only_t_moves_anything(place, s, t, mix, seed):
    s, t = sorted([s, t])
    (a, pools), (b, _) = (raw(place, at, seed=seed, mix=mix) for at in (s, t))
    for split in (a, b):
        every = np.concatenate([split.rows, split.test_rows, pools.aside])
        assert len(set(every)) == len(every)
    assert np.array_equal(a.X_test, b.X_test)
    labeled = len(pools.labeled)
    assert np.array_equal(a.X[:labeled], b.X[:labeled])
    assert (a.y[labeled:] == -1).all()
    every, n = set(pools.inconsistent), len(pools.inconsistent)
    inconsistent = [set(split.rows) & every for split in (a, b)]
    assert [len(rows) for rows in inconsistent] == [count(s, n), count(t, n)]
    assert inconsistent[0] <= inconsistent[1]
    consistent = [set(split.rows) - every for split in (a, b)]
    if mix == "replace":
        assert len(a.rows) == len(b.rows)
        assert consistent[1] <= consistent[0]
    else:
        assert consistent[0] == consistent[1]


@steady
@given(places, ts, st.integers(0, 5))
def test_consistent_rows_are_whole_and_inconsistent_ones_are_degraded_alike_at_every_t(
    place, t, seed
):
    split, pools = raw(place, t, seed=seed)
    whole = pools.data.X[split.rows]
    changed = np.isin(split.rows, pools.inconsistent)
    assert all(
        np.array_equal(x, w) for x, w in zip(split.X[~changed], whole[~changed], strict=True)
    )
    if "feature" in place[0]:
        last, _ = raw(place, 1.0, seed=seed)
        final = dict(zip(last.rows.tolist(), last.X, strict=True))
        for row, x, w in zip(split.rows[changed], split.X[changed], whole[changed], strict=True):
            assert not np.array_equal(x, w)
            assert np.array_equal(x, final[row])


def test_colour_is_one_channel_copied():
    split, pools = raw(("feature", "toy:images"), 1.0)
    degraded = split.X[len(pools.labeled) :]
    assert np.array_equal(
        degraded, np.repeat(pools.data.X[split.rows[len(pools.labeled) :]][..., :1], 3, -1)
    )


def test_grey_images_lose_half_of_their_pixels():
    split, pools = raw(("feature", "toy:grey"), 1.0)
    degraded = split.X[len(pools.labeled) :]
    assert ((degraded == 0).sum((1, 2, 3)) == 18).all()
    assert len({x.tobytes() for x in degraded == 0}) > 1  # not the same pixels in every image


def test_texts_lose_half_of_their_words_and_keep_their_order():
    split, pools = raw(("feature", "toy:texts"), 1.0)
    for row, text in zip(
        split.rows[len(pools.labeled) :], split.X[len(pools.labeled) :], strict=True
    ):
        words, left = pools.data.X[row].split(), text.split()
        assert len(left) == 5
        rest = iter(words)
        assert all(word in rest for word in left)


def test_a_grey_image_of_three_channels_loses_pixels_too():
    grey = robustssl.dataset("toy:grey")
    data = robustssl.Dataset("copied", np.repeat(grey.X, 3, -1), grey.y, kind="image")
    environment = robustssl.environment("feature")
    pools = environment.pools(data, 3, np.random.default_rng(0))
    degraded = environment.split(pools, 1.0).X[len(pools.labeled) :]
    assert ((degraded == 0).all(-1).sum((1, 2)) == 18).all()


def test_what_is_lost_depends_on_seed_and_row():
    for dataset in ("toy:grey", "toy:texts"):
        lost = []
        for seed in (0, 1):
            split, pools = raw(("feature", dataset), 1.0, seed=seed)
            rows = split.rows.tolist()
            lost.append(dict(zip(rows, split.X, strict=True)))
            [lost[-1].pop(row) for row in pools.labeled.tolist()]
        both = lost[0].keys() & lost[1].keys()
        assert both
        assert any(not np.array_equal(lost[0][row], lost[1][row]) for row in both)
    texts = [" ".join(order) for order in itertools.islice(itertools.permutations("abcd"), 24)]
    data = robustssl.Dataset("alike", np.array(texts, object), np.arange(24) % 2, kind="text")
    environment = robustssl.environment("feature")
    pools = environment.pools(data, 2, np.random.default_rng(0))
    assert len({frozenset(text) for text in environment.split(pools, 1.0).X[4:]}) > 1


def test_halves_are_drawn_class_by_class():
    halves = [
        robustssl.environment("feature").divide(
            robustssl.dataset("toy:images"), np.random.default_rng(seed)
        )
        for seed in (0, 1)
    ]
    assert not np.array_equal(halves[0][0], halves[1][0])
    y = robustssl.dataset("toy:images").y
    assert np.bincount(y[halves[0][0]]).tolist() == [20, 20, 20, 20]


def test_the_oracle_with_rows_added_has_the_consistent_ones_alone():
    split, pools = raw(("label", "wine"), 0.6, mix="add", access="consistent")
    assert set(split.rows[len(pools.labeled) :]) == set(pools.consistent)


def test_odd_numbers_of_rows():
    """The near half and the pool get the odd row."""
    y = np.repeat([0, 1], [21, 21])
    data = robustssl.Dataset("odd", np.random.default_rng(0).normal(size=(42, 2)), y)
    near, far = robustssl.environment("distribution").divide(data, None)
    assert (len(near), len(far)) == (22, 20)
    pools = robustssl.environment("feature").pools(data, 2, np.random.default_rng(0))
    assert (len(pools.test), len(pools.consistent)) == (20, 18)


def test_one_named_domain_is_paired_with_the_first_other_one():
    data = robustssl.dataset("toy:tables")
    for spec, names in (
        ("distribution", ("here", "there")),
        ("distribution[target=here]", ("there", "here")),
        ("distribution[source=there]", ("there", "here")),
    ):
        near, far = robustssl.environment(spec).divide(data, None)
        assert (data.domain[near[0]], data.domain[far[0]]) == names
    alone = robustssl.Dataset("alone", data.X, data.y, domain=np.full(len(data.y), "x", object))
    with pytest.raises(InputError, match="alone has one domain, 'x'"):
        robustssl.environment("distribution").divide(alone, None)


# Digests of what a learner sees at t = 0.4 with seed 0, so that no change goes unnoticed.
PINNED = {
    ("distribution", "toy:tables"): "a73cccc34f633db2",
    ("distribution[source=there,target=here]", "toy:tables"): "7186f1c01ceacbcb",
    ("distribution", "toy:images"): "094d4813975b19db",
    ("distribution", "toy:texts"): "a7be10dfcb45a743",
    ("label", "toy:images"): "4dd73f392622a67d",
    ("label", "toy:texts"): "d473c7b820524e07",
    ("feature", "toy:images"): "24763dc2072d91a3",
    ("feature", "toy:grey"): "2f34db67d1ca604c",
    ("feature", "toy:texts"): "933c736d5c31d08a",
    ("label+feature", "toy:images"): "dfa7045a0f8c35a1",
    ("label+feature", "wine"): "b1f10b06f3b51870",
    ("distribution+feature", "toy:texts"): "b08d5cf563cac6c4",
    ("distribution", "wine"): "57ecd90652b1615a",
    ("label", "wine"): "f74ea7c0a39f2af1",
    ("feature", "wine"): "4f7ba27af8111f34",
    ("prior", "digits"): "c2d9acba3b647a14",
    ("prior[labeled=tail]", "toy:images"): "5c1cb59fcffc182e",
    ("label[known=drawn]", "digits"): "e845de397f24aa27",
    ("label[unknown=near]", "digits"): "6105f0fe8551cf65",
    ("label[unknown=toy:news]", "toy:texts"): "76141cf63abe8485",
    ("distribution[labeled=biased]", "wine"): "261f139155f56078",
}


@pytest.mark.parametrize("place", PINNED)
def test_what_a_learner_sees_is_pinned(place):
    split, _ = raw(place, 0.4)
    seen = digest(as_array(split.X), split.rows, split.y, as_array(split.X_test))
    assert seen[:16] == PINNED[place]


def test_a_text_of_one_word_keeps_it():
    texts = np.array([f"word{i}" for i in range(40)], object)
    data = robustssl.Dataset("short", texts, np.arange(40) % 2, kind="text")
    environment = robustssl.environment("feature")
    pools = environment.pools(data, 2, np.random.default_rng(0))
    assert set(environment.split(pools, 1.0).X) < set(texts)


@pytest.mark.parametrize(("environment", "dataset"), [*PLACES, ("feature", "wine")])
def test_the_oracle_gets_no_inconsistent_row_and_the_ceiling_gets_labels(environment, dataset):
    place = (environment, dataset)
    plain, pools = raw(place, 0.6)
    oracle, _ = raw(place, 0.6, access="consistent")
    labeled = len(pools.labeled)
    if place == ("feature", "wine"):
        whole, _ = raw(place, 0.0)
        assert np.array_equal(oracle.X, whole.X)
    else:
        kept = ~np.isin(plain.rows, pools.inconsistent)
        assert np.array_equal(oracle.rows, plain.rows[kept])
    ceiling, _ = raw(place, 0.6, access="labels")
    assert np.array_equal(ceiling.y, pools.data.y[ceiling.rows])
    assert set(ceiling.y) == set(pools.data.y[pools.labeled])
    assert set(ceiling.rows) <= set(plain.rows)
    if "label" not in environment:
        assert len(ceiling.rows) == len(plain.rows)
    for split in (oracle, ceiling):
        assert np.array_equal(split.test_rows, plain.test_rows)
        assert np.array_equal(split.rows[:labeled], plain.rows[:labeled])


@pytest.mark.parametrize(("environment", "dataset"), PLACES)
def test_caps_are_drawn_before_t_and_keep_the_shares_of_the_classes(environment, dataset):
    place = (environment, dataset)
    whole, all_pools = raw(place, 0.5)
    few, pools = raw(place, 0.5, test=10, unlabeled=10)
    tested = 10 // len(np.unique(whole.y_test)) * len(np.unique(whole.y_test))
    assert len(few.test_rows) == (tested if environment.startswith("prior") else 10)
    assert (len(pools.consistent), len(pools.inconsistent)) == (10, 10)
    assert np.array_equal(pools.consistent, all_pools.consistent[:10])
    shares = np.bincount(few.y_test)
    assert shares[shares > 0].min() >= 1
    assert len(np.unique(few.y_test)) == len(np.unique(whole.y_test))


@steady
@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), st.integers(0, 99))
def test_every_stretch_of_a_blend_holds_the_shares(sizes, seed):
    starts = np.cumsum([0, *sizes])
    parts = [np.arange(a, b) for a, b in itertools.pairwise(starts)]
    blended = blend(dict(enumerate(parts)), seed)
    assert sorted(blended) == list(range(starts[-1]))
    for length in range(len(blended) + 1):
        for part in parts:
            share = len(part) * length / len(blended)
            assert abs(np.isin(blended[:length], part).sum() - share) <= 1 + len(parts)


def test_domains_are_source_and_target():
    split, pools = raw(("distribution[source=there,target=here]", "toy:tables"), 1.0)
    domain = pools.data.domain
    assert set(domain[split.test_rows]) == set(domain[pools.labeled]) == {"there"}
    assert set(domain[split.rows[len(pools.labeled) :]]) == {"here"}


@pytest.mark.parametrize(
    ("spec", "dataset", "message"),
    [
        (
            "distribution[source=hear]",
            "toy:tables",
            "unknown domain of tables 'hear'; did you mean 'here'",
        ),
        ("distribution[source=there,target=there]", "toy:tables", "both 'there'"),
        ("distribution[source=a,target=b]", "iris", "iris has no domains"),
        ("feature[mix=add]", "iris", "no rows to add"),
        ("reference", "toy:images", "for tabular data"),
    ],
)
def test_an_environment_that_does_not_fit_the_data_is_refused(spec, dataset, message):
    with pytest.raises(InputError, match=message):
        prepare(dataset, spec, 3, 0)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("label[mix=ad]", "unknown mix 'ad'; did you mean 'add'"),
        ("label[access=label]", "did you mean 'labels'"),
        ("label[test=0]", "test must be a whole number of at least 1, got 0"),
        ("label[unlabeled=few]", "unlabeled must be a whole number of at least 1, got 'few'"),
        ("label+distribution", "cannot compose"),
        ("feature+feature", "cannot compose"),
        ("label+feature+feature", "cannot compose"),
        ("label+featur", "did you mean 'feature'"),
        ("reference+feature", "cannot compose"),
        ("reference[mix=add]", "no option but kind"),
    ],
)
def test_options_that_are_refused(spec, message):
    with pytest.raises(InputError, match=message):
        robustssl.environment(spec)


def test_preprocessing_of_images_and_texts_is_fitted_at_t_0():
    for place in (("label", "toy:images"), ("label", "toy:texts")):
        at_0 = prepare(place[1], place[0], 3, 0).split(0.0)
        assert at_0.X.ndim == 2
        assert at_0.X.mean(0) == pytest.approx(0, abs=1e-9)
        assert at_0.X.std() == pytest.approx(1)
        assert not np.allclose(prepare(place[1], place[0], 3, 0).split(1.0).X.mean(0), 0)


@pytest.mark.parametrize("dataset", ["toy:images", "toy:texts"])
@pytest.mark.parametrize("environment", ["distribution", "label", "feature", "label+feature"])
def test_all_kinds_run(environment, dataset):
    cell = robustssl.Cell("label_spreading", environment, dataset, 3, 0.4, 0)
    (record,) = run_group((cell,))
    assert record.error is None
    assert record.scores["accuracy"] > 0.5


def test_data_that_are_no_images_or_texts_are_refused():
    y = np.array([0, 1])
    with pytest.raises(InputError, match="images are bytes"):
        robustssl.Dataset("mine", np.zeros((2, 4, 4, 3)), y, kind="image")
    with pytest.raises(InputError, match="row 1 is not a text, or an empty one"):
        robustssl.Dataset("mine", np.array(["a", " "], object), y, kind="text")
    with pytest.raises(InputError, match="2 rows, but 1 domains"):
        robustssl.Dataset("mine", np.zeros((2, 1)), y, domain=np.array(["a"]))
    with pytest.raises(InputError, match="a matrix of numbers"):
        robustssl.Dataset("mine", np.array([["a"], ["b"]]), y)


def test_statistical_learners_see_the_leading_components_of_images():
    """The components with the largest variance over the rows of t = 0."""
    prepared = prepare("digits[kind=image]", "label", 5, 0)
    split, raw = prepared.split(0.0), prepared.split(0.0, views=True)
    assert raw.X.shape[1:] == (8, 8, 1)
    assert split.X.shape[1] == 64  # all components, since they are fewer than 128
    scatter = np.cov(raw.X.reshape(len(raw.X), -1).T.astype(float), bias=True)
    variances = np.linalg.eigvalsh(scatter)[::-1]
    found = split.X.var(0)
    assert found == pytest.approx(variances / variances.mean(), rel=1e-6, abs=1e-9)
    wide = np.random.default_rng(0).integers(0, 256, (200, 12, 12, 1), dtype=np.uint8)
    assert preprocessing(wide, "image").transform(wide[:3]).shape == (3, 128)


def test_digits_are_a_table_or_images_of_the_same_rows():
    table, images = registry.dataset("digits"), registry.dataset("digits[kind=image]")
    assert (table.kind, images.kind) == ("tabular", "image")
    assert np.array_equal(np.round(table.X * 255 / 16), images.X.reshape(1797, 64))
    assert data_kind("digits[kind=image]") == "image"
    pools = [prepare(name, "label", 5, 0).pools for name in ("digits", "digits[kind=image]")]
    assert np.array_equal(pools[0].consistent, pools[1].consistent)
    with pytest.raises(InputError, match="kind of digits"):
        registry.dataset("digits[kind=sound]")


def test_preprocessed_texts_are_kept_for_the_next_method():
    prepared = prepare("toy:texts", "label", 3, 0)
    assert prepared.split(0.4, views=True) is prepared.split(0.4, views=True)
    assert prepared.split(0.4).X.ndim == 2
    assert prepared.split(0.4, views=True).X.bank.ndim == 3
    assert not np.array_equal(prepared.split(0.4).X, prepared.split(0.6).X)
