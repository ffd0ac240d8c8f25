"""How long the statistical algorithms take, as ratios to supervised XGBoost in the same run.

    python benchmarks/statistical.py            # everything: about ten minutes
    python benchmarks/statistical.py study      # the whole study alone
    python benchmarks/statistical.py wine ssgmm tsvm

Every fit has a process of its own, with one thread, so that its peak memory is its own.
"""

import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

BASELINE = "supervised_xgboost"
PLACES = {
    "wine": ("wine", "feature"),
    "letter": ("letter", "feature[unlabeled=1998,test=9877]"),
    "all of letter": ("letter", "feature"),
    "covertype": ("covertype", "feature[unlabeled=5000,test=5000]"),
}
STUDY = {
    "algorithms": [
        *(BASELINE, "ssgmm", "tsvm", "label_propagation"),
        *("label_spreading", "tri_training", "assemble"),
    ],
    "environments": ["distribution", "label", "feature"],
    "datasets": ["iris", "wine"],
}


def fit(place: str, name: str) -> tuple[int, float, float, float]:
    """Rows, seconds of a fit, accuracy, and peak memory in GB; small fits are repeated."""
    import resource
    import warnings

    import robustssl
    from robustssl.splits import prepare

    warnings.simplefilter("ignore")
    dataset, environment = PLACES[place]
    split = prepare(dataset, environment, 5, 0).split(0.4)
    robustssl.estimator(name).fit(*small())  # whatever is loaded late is loaded now
    seconds = []
    while not seconds or (sum(seconds) < 0.5 and len(seconds) < 20):
        start = time.perf_counter()
        model = robustssl.estimator(name).fit(split.X, split.y)
        seconds.append(time.perf_counter() - start)
    accuracy = model.score(split.X_test, split.y_test)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return len(split.X), min(seconds), accuracy, memory


def small():
    from robustssl.checks.algorithms import blobs

    return blobs(0, rows=90)[:2]


def nystroem(components: int = 300) -> tuple[int, float]:
    """Fits that TSVM makes on all of letter, and seconds of one on a Nystroem map instead."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.svm import LinearSVC

    import robustssl
    from robustssl.algorithms import tsvm
    from robustssl.splits import prepare

    split, calls, machine = prepare(*PLACES["letter"], 5, 0).split(0.4), [], tsvm.machine

    def counted(*arguments):
        calls.append(1)
        return machine(*arguments)

    tsvm.machine = counted
    robustssl.estimator("tsvm").fit(split.X, split.y)
    X = prepare(*PLACES["all of letter"], 5, 0).split(0.4).X
    features = Nystroem(gamma=1 / X.shape[1], n_components=components, random_state=0)
    Z, signs = features.fit_transform(X), (X[:, 0] > 0) * 2 - 1
    start = time.perf_counter()
    LinearSVC(C=1.0, max_iter=1000).fit(Z, signs)
    return len(calls), time.perf_counter() - start


def apart(function, *arguments):
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def run_study() -> None:
    import robustssl

    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        status = robustssl.run(STUDY, Path(folder) / "s.sqlite", progress=False)
        seconds = time.perf_counter() - start
    print(f"\n{status.cells} cells (iris, wine), {status.failed} failed: {seconds:.1f} s")


def main() -> None:
    from robustssl import registry

    places = [word for word in sys.argv[1:] if word in PLACES]
    names = [word for word in sys.argv[1:] if word in registry.names("algorithm")]
    if not sys.argv[1:] or "study" in sys.argv[1:]:
        run_study()
        if sys.argv[1:]:
            return
    for place in places or PLACES:
        rows, unit, *_ = apart(fit, place, BASELINE)
        print(f"\n{place}: {rows} rows; {BASELINE} takes {unit:.3f} s", flush=True)
        print(f"{'algorithm':20} {'seconds':>8} {'ratio':>8} {'accuracy':>9} {'GB':>6}")
        for name in names or registry.names("algorithm"):
            _, seconds, accuracy, memory = apart(fit, place, name)
            line = f"{name:20} {seconds:8.3f} {seconds / unit:8.1f} {accuracy:9.3f} {memory:6.2f}"
            print(line, flush=True)
    if "all of letter" in (places or PLACES) and "tsvm" in (names or ["tsvm"]):
        fits, seconds = apart(nystroem)
        print(f"\nTSVM makes about {fits} fits on letter. On 300 Nystroem features of all of it")
        print(f"one takes {seconds:.2f} s, all of them about {fits * seconds:.0f} s.")


if __name__ == "__main__":
    main()
