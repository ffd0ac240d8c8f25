"""Class shares, known classes, labels that are not missing at random, and rows that count once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

import robustssl
from robustssl import InputError, registry
from robustssl.checks.environments import check_environment
from robustssl.environments import count
from robustssl.execution.run import run
from robustssl.spec import thing_of
from robustssl.splits import prepare

steady = settings(max_examples=25, deadline=None)
ratios = st.sampled_from([1, 2.5, 10, 40])
BIASED = "distribution[labeled=biased]"
ts = st.floats(0, 1).map(lambda t: round(t, 6))


def pools_of(environment, dataset="digits", labels=5, seed=0):
    spec = registry.canonical("environment", environment)
    return prepare(dataset, spec, labels, seed).pools


def classes(pools, rows):
    return np.bincount(pools.data.y[rows], minlength=len(np.unique(pools.data.y)))


@steady
@given(ratios, st.sampled_from(["even", "tail"]), st.integers(1, 9), st.integers(0, 9))
def test_the_shares_of_prior_are_those_of_the_formula(ratio, labeled, labels, seed):
    pools = pools_of(f"prior[ratio={ratio},labeled={labeled}]", labels=labels, seed=seed)
    tail = np.sort(ratio ** (-np.arange(10) / 9))
    given_labels, n = classes(pools, pools.labeled), len(pools.inconsistent)
    if labeled == "even":
        assert given_labels.tolist() == [labels] * 10
    else:
        assert sorted(given_labels) == sorted(max(1, round(labels * x)) for x in tail)
    assert classes(pools, pools.consistent) / n == pytest.approx(
        given_labels / given_labels.sum(), abs=1 / n
    )
    for rows in (pools.inconsistent, pools.aside):
        shares = classes(pools, rows) / len(rows)
        assert np.sort(shares) == pytest.approx(tail / tail.sum(), abs=1 / len(rows))
    assert len(pools.consistent) == n
    assert len(set(classes(pools, pools.test))) == 1


@steady
@given(st.sampled_from(["replace", "add"]), ts, st.integers(0, 5))
def test_prior_mixes_the_shares_by_t(mix, t, seed):
    pools = pools_of(f"prior[mix={mix}]", seed=seed)
    split = robustssl.environment(f"prior[mix={mix}]").split(pools, t)
    found = classes(pools, split.rows[len(pools.labeled) :])
    n = len(pools.inconsistent)
    kept = n if mix == "add" else n - count(t, n)
    p0, p1 = (classes(pools, rows) / n for rows in (pools.consistent, pools.inconsistent))
    assert found == pytest.approx(kept * p0 + count(t, n) * p1, abs=3)


def test_the_tail_of_the_inconsistent_rows_is_that_of_the_labeled_rows_reversed():
    pools = pools_of("prior[labeled=tail]", labels=20)
    labeled, inconsistent = classes(pools, pools.labeled), classes(pools, pools.inconsistent)
    more = labeled[:, None] > labeled
    assert (inconsistent[:, None] <= inconsistent)[more].all()
    assert inconsistent[labeled.argmax()] < inconsistent[labeled.argmin()]
    assert (labeled.max(), labeled.min()) == (20, 2)


def test_test_rows_of_prior_are_balanced_under_a_cap():
    pools = pools_of("prior[test=34]")
    assert classes(pools, pools.test).tolist() == [3] * 10
    assert len(pools.aside) == 34


def test_prior_takes_as_many_rows_as_the_shares_allow():
    """One more row would ask for a row of a class that has no more."""
    pools = pools_of("prior", labels=5)
    every = prepare("digits", "prior[ratio=1]", 5, 0).pools
    n, far = len(pools.inconsistent), classes(pools, pools.inconsistent)
    y = pools.data.y
    there = [(np.bincount(y)[k] // 2) - (np.bincount(y)[k] // 2) // 5 for k in range(10)]
    common = int(far.argmax())
    assert far[common] == there[common]
    assert n < len(every.inconsistent)


def test_a_seed_draws_which_classes_are_common():
    tops = {
        int(classes(p, p.inconsistent).argmax())
        for s in range(8)
        for p in [pools_of("prior", seed=s)]
    }
    assert len(tops) > 3


def test_draws_of_its_own_leave_other_draws_alone():
    """Ranks, known classes and biases come from generators of their own."""
    for one, other in (
        ("prior", "prior[ratio=3]"),
        ("label", "label[unknown=near]"),
        ("label", "label[unknown=far]"),
    ):
        a, b = pools_of(one), pools_of(other)
        assert np.array_equal(a.labeled, b.labeled)
        assert np.array_equal(a.test, b.test)


def test_few_labels_are_among_many_on_the_same_test_rows():
    for environment in (
        "distribution",
        "label",
        "feature",
        "prior",
        "distribution[labeled=biased]",
    ):
        few, some, many = (pools_of(environment, labels=n) for n in (4, 8, 25))
        assert np.array_equal(few.test, some.test)
        assert np.array_equal(few.test, many.test)
        assert set(few.labeled) < set(some.labeled) < set(many.labeled)
        assert np.array_equal(few.aside, many.aside)


def test_known_classes_are_drawn_by_dataset_and_seed():
    def known(seed, labels=5, dataset="digits"):
        pools = pools_of("label[known=drawn]", dataset, labels, seed)
        inside = {*pools.data.y[pools.labeled].tolist()}
        assert inside == {*pools.data.y[pools.test].tolist()}
        assert not inside & {*pools.data.y[pools.inconsistent].tolist()}
        assert len(inside) == (len(np.unique(pools.data.y)) + 1) // 2
        return frozenset(inside)

    assert len({known(seed) for seed in range(6)}) > 3
    assert known(2, labels=5) == known(2, labels=9)
    assert known(1) != known(1, dataset="toy:ten")


def test_near_and_far_classes_are_halves_by_distance():
    data = robustssl.dataset("digits")
    spread = data.X.std(0)
    Z = (data.X - data.X.mean(0)) / np.where(spread > 0, spread, 1)
    means = np.stack([Z[data.y == k].mean(0) for k in range(10)])
    distance = [min(np.linalg.norm(means[u] - means[k]) for k in range(5)) for u in range(5, 10)]
    order = (np.argsort(distance) + 5).tolist()
    near, far = pools_of("label[unknown=near]"), pools_of("label[unknown=far]")
    assert {*data.y[near.inconsistent].tolist()} == {*data.y[near.aside].tolist()} == {*order[:3]}
    assert {*data.y[far.inconsistent].tolist()} == {*data.y[far.aside].tolist()} == {*order[3:]}


def test_unknown_rows_of_another_dataset():
    own, pools = pools_of("label", "toy:texts"), pools_of("label[unknown=toy:news]", "toy:texts")
    texts, news = robustssl.dataset("toy:texts").X, {*robustssl.dataset("toy:news").X}
    assert np.array_equal(own.labeled, pools.labeled)
    assert np.array_equal(own.test, pools.test)
    assert {*pools.data.X[pools.inconsistent]} | {*pools.data.X[pools.aside]} <= news
    assert {*pools.data.X[pools.consistent]} <= {*texts}
    assert pools.data.class_name(pools.data.y[pools.inconsistent[0]]).startswith("toy:news: ")


def test_images_of_another_dataset_take_the_shape_of_the_first_behind_an_encoder():
    pytest.importorskip("torch")
    pools = pools_of("label[unknown=toy:small]", "toy:encoded_images[encoder=tiny:Means]", labels=3)
    far = pools.data.X[pools.inconsistent]
    assert far.shape[1:] == (4, 4, 3)
    assert np.array_equal(far[..., 0], far[..., 1])  # a grey image has three equal channels
    with pytest.raises(InputError, match="4 x 4 x 3 and those of small 2 x 2 x 1: pixels cannot"):
        pools_of("label[unknown=toy:small]", "toy:encoded_images", labels=3)


def test_the_version_of_an_environment_is_that_of_the_other_dataset_too():
    spec = registry.canonical("environment", "label[unknown=bbc_news]")
    assert thing_of("environment", spec) == "label/bbc_news"
    alone = registry.version("environment", "label")
    assert registry.version("environment", thing_of("environment", spec)) == 1000 * alone + 1
    both = registry.canonical("environment", "label+feature[unknown=bbc_news]")
    assert registry.version("environment", thing_of("environment", both)) == 1001 * alone * 1000 + 1


def test_biased_labels_follow_the_first_component():
    """Independent of the code: eigenvectors of the correlations, and the stated probability."""
    data = robustssl.dataset("wine")
    Z = (data.X - data.X.mean(0)) / data.X.std(0)
    loadings = np.linalg.eigh(np.corrcoef(data.X.T))[1][:, -1]
    score = Z @ loadings * np.sign(loadings[np.abs(loadings).argmax()])
    z = np.empty(len(score))
    for k in np.unique(data.y):
        z[data.y == k] = (score[data.y == k] - score[data.y == k].mean()) / score[data.y == k].std()
    seeds = 300
    environment = robustssl.environment("distribution[labeled=biased]")
    source = np.zeros(len(z))
    for seed in range(seeds):
        near, far = environment.divide(data, np.random.default_rng(seed))
        assert len(near) + len(far) == len(z)
        source[near] += 1
    error = source / seeds - expit(2 * z)
    assert np.abs(error).max() < 0.15  # 5 standard errors of a share over 300 draws
    assert abs(error.mean()) < 0.01


def with_copies(domain=None):
    """Rows 0 to 39 differ; 40 and 41 are copies of row 1; 42 contradicts row 2."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.arange(40) % 2
    X, y = np.concatenate([X, X[[1, 1, 2]]]), np.concatenate([y, [1, 1, 1]])
    return robustssl.Dataset("copied", X, y, domain=domain)


def test_of_equal_rows_the_first_counts_and_none_where_classes_differ():
    data = with_copies()
    assert (data.meta["copies"], data.meta["contradictions"]) == (2, 2)
    distinct, rows = data.without_copies
    assert rows.tolist() == [0, 1, *range(3, 40)]
    assert np.array_equal(distinct.X, data.X[rows])
    assert distinct.meta["copies"] == distinct.meta["contradictions"] == 0
    pools = robustssl.environment("feature").pools(data, 2, np.random.default_rng(0))
    used = np.concatenate([pools.labeled, pools.test, pools.consistent])
    assert sorted(used) == rows.tolist()


def test_minus_zero_is_zero_and_texts_and_images_are_compared_whole():
    table = robustssl.Dataset("zeros", np.array([[0.0], [-0.0], [1.0]]), np.array([0, 0, 1]))
    assert table.meta["copies"] == 1
    texts = robustssl.Dataset(
        "t", np.array(["a b", "a  b", "a b"], object), np.array([0, 0, 1]), kind="text"
    )
    assert texts.meta["contradictions"] == 2
    assert texts.meta["copies"] == 0


def test_a_class_of_which_every_row_is_contradicted_is_told():
    X = np.array([[1.0], [1.0], [2.0], [3.0]])
    data = robustssl.Dataset("odd", X, np.array([0, 1, 1, 1]))
    with pytest.raises(InputError, match="every row of class 0 equals a row of another class"):
        robustssl.environment("feature").pools(data, 1, np.random.default_rng(0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "environments"),
    [
        (
            "covertype",
            ["distribution", "label", "feature", "prior[ratio=2]", "distribution[labeled=biased]"],
        ),
        ("letter", ["distribution", "label", "feature", "prior", "label[unknown=near]"]),
        ("cifar10", ["label", "feature", "prior", "label[known=drawn]"]),
        ("bbc_news", ["label", "feature", "prior", BIASED]),
        ("imdb_amazon", ["distribution", "feature", "prior"]),
    ],
)
def test_no_two_groups_of_rows_share_an_id_or_a_content(dataset, environments):
    """On real data, at all t and three seeds."""
    data = robustssl.dataset(dataset)
    content = {row: data._firsts[row] for row in range(len(data.y))}
    for environment in environments:
        for seed in range(3):
            pools = pools_of(environment, dataset, 5, seed)
            groups = [pools.labeled, pools.test, pools.aside, pools.consistent]
            if not pools.by_column:
                groups.append(pools.inconsistent)
            rows = np.concatenate(groups)
            assert len(set(rows)) == len(rows)
            assert len({content[row] for row in rows.tolist()}) == len(rows)
            assert -1 not in {content[row] for row in rows.tolist()}


@pytest.mark.parametrize(
    ("environment", "dataset", "message"),
    [
        ("prior[ratio=0.5]", "digits", "ratio must be at least 1, got 0.5"),
        ("prior[ratio=1e9]", "digits", "is too rare for its share"),
        ("distribution[labeled=biased,source=a]", "toy:tables", "a source and a target of its own"),
        ("label[unknown=far]", "wine", "wine has one unknown class"),
        ("label[unknown=wine]", "digits", "digits is tabular and wine is tabular"),
        ("label[unknown=toy:images]", "toy:texts", "texts is text and toy:images is image"),
        ("label[unknown=bbc_new]", "toy:texts", "did you mean 'bbc_news'"),
        ("label[known=some]", "digits", "unknown known 'some'"),
        ("distribution", "toy:one_domain", "one_domain has one domain, 'here', and two are needed"),
        ("label", "breast_cancer", "needs three; breast_cancer has 2"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(environment, dataset, message, tmp_path):
    study = {
        "algorithms": ["supervised_logistic"],
        "environments": [environment],
        "datasets": [dataset],
        "ts": [0.0, 1.0],
        "seeds": 1,
    }
    with pytest.raises(InputError, match=message):
        run(study, tmp_path / "store.sqlite", progress=False)


@pytest.mark.parametrize(
    ("environment", "dataset"),
    [
        ("prior", "digits"),
        ("prior[labeled=tail]", "digits"),
        ("prior[mix=add]", "digits"),
        ("prior", "toy:texts"),
        ("prior", "digits[kind=image]"),
        ("prior+feature", "digits[kind=image]"),
        ("label[known=drawn]", "digits"),
        ("label[unknown=near]", "digits"),
        ("label[unknown=far]", "digits"),
        ("label[unknown=toy:news]", "toy:texts"),
        ("distribution[labeled=biased]", "digits"),
    ],
)
def test_contracts_hold(environment, dataset):
    assert {name: wrong for name, wrong in check_environment(environment, dataset) if wrong} == {}


@pytest.mark.parametrize(
    ("environment", "dataset", "contract"),
    [
        ("broken:SharesJump", "digits", "shares of the classes move in proportion to t"),
        ("broken:KnownByLabels", "digits", "few labels are among many"),
        ("broken:NearByT", "digits", "nested"),
        ("broken:CopiesTest", "toy:texts", "contents are disjoint"),
        ("broken:BiasedByLabels", "digits", "few labels are among many"),
        ("broken:PriorLosesByT", "digits[kind=image]", "rows are what they were"),
    ],
)
def test_broken_variants_are_found(environment, dataset, contract):
    assert contract in {name for name, wrong in check_environment(environment, dataset) if wrong}


def test_an_environment_whose_inconsistent_rows_lack_a_class_gets_a_sentence():
    with pytest.raises(InputError, match=r"inconsistent rows of digits .* class 0.*paired"):
        list(check_environment("broken:LacksAClass", "digits"))
