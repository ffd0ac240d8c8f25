"""Result files: the published ones in their raw form, tidy ones, records, stores."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import robustssl
from robustssl import InputError
from robustssl.analysis.curves import curves
from robustssl.records.published import KEYS
from robustssl.records.results import read

DATA = Path(__file__).parent / "data"
RESULTS = Path(__file__).parent.parent / "results"


@pytest.fixture
def published(request):
    with pytest.warns(UserWarning, match="lacks t"):
        return robustssl.metrics(DATA / "published", "published")


def test_every_row_of_the_published_feature_tables_comes_out(published):
    names = ["AUC", "Acc0", "WA", "EVM", "VS", "RCC"]
    count = 0
    for path in sorted((DATA / "published_metrics" / "Feature").glob("*.csv")):
        labels = {"5": 5, "0": 10}.get(path.stem.removesuffix("_stat")[-1])
        labels = labels if "tabular" in path.stem else None
        table = pd.read_csv(path, header=None, names=["dataset", "algorithm", *names])
        for row in table.itertuples():
            ours = published[
                (published.environment == "feature")
                & (published.dataset == row.dataset)
                & (published.algorithm == row.algorithm)
                & (published.labels == labels if labels else published.labels.isna())
            ]
            assert len(ours) == 1, row
            got = [f"{value:.3f}" for value in ours[names].iloc[0].astype(float)]
            printed = [f"{value:.3f}" for value in row[3:]]
            assert got == printed, row
            count += 1
    assert count == 129


def test_the_tidy_file_is_the_raw_files():
    raw = read(DATA / "published")[[*KEYS, "t", "score", "printed", "std", "file"]]
    tidy = pd.read_csv(RESULTS / "published.csv", dtype=str, keep_default_na=False)
    assert raw.to_csv(index=False) == tidy.drop(columns="defect").to_csv(index=False)


def test_metrics_of_the_tidy_file_are_those_of_the_raw_files(published):
    with pytest.warns(UserWarning, match="lacks t"):
        tidy = robustssl.metrics(RESULTS / "published.csv", "published")
    pd.testing.assert_frame_equal(tidy, published)


def test_irregularities_of_the_raw_form():
    frame = read(DATA / "published")
    assert not frame.algorithm.str.contains("\ufeff").any()  # three files start with a mark
    assert "XGBClassifier" not in set(frame.algorithm)
    letter = frame[(frame.file == "Label/letter_statistical_class_labels_5.csv")]
    assert len(letter) == 42  # separated by tabs
    assert set(frame.environment) == {"distribution", "feature", "label"}
    assert set(frame.t) == {0, 0.2, 0.4, 0.6, 0.8, 1}


def test_t_0_belongs_to_the_source_and_the_first_pair_counts(tmp_path):
    raw = "\ufeffM,a,b,0,0.9,0\nM,a,b,1.0,0.8,0\nM,a,c,0,0.7,0\nM,a,c,1,0.6,0\nM,b,a,0,0.5,0\n"
    path = tmp_path / "Pair_distribution.csv"
    path.write_text(raw, encoding="utf-8")
    frame = read(path)
    assert frame.score.tolist() == [0.9, 0.8, 0.9, 0.6, 0.5]
    assert frame.printed.tolist() == [0.9, 0.8, 0.7, 0.6, 0.5]


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("iris_deep_class_labels_5.csv", [0.9, 0.9]),
        ("iris_statistical_feature_labels_5.csv", [0.9, 0.9]),
        ("iris_statistical_class_labels_5.csv", [0.9, 0.8]),
    ],
)
def test_the_baseline_counts_with_its_start_but_in_one_kind_of_file(tmp_path, name, scores):
    (tmp_path / name).write_text("XGBClassifier,0,0.9,0\nXGBClassifier,1,0.8,0\n")
    frame = read(tmp_path)
    assert frame.score.tolist() == scores
    assert set(frame.algorithm) == {"XGBoost"}


def test_a_published_curve_without_its_end_is_read_over_its_points(published):
    row = published[
        (published.environment == "label")
        & (published.dataset == "covertype")
        & (published.labels == 5)
        & (published.algorithm == "SoftMatch")
    ]
    raw = read(DATA / "published" / "Label" / "covertype_deep_class_labels_5.csv")
    points = raw[raw.algorithm == "SoftMatch"].score
    assert len(points) == 4
    assert row.AUC.item() == pytest.approx(points.mean())
    with pytest.warns(UserWarning, match="left out, it lacks t = 1"):
        exact = robustssl.metrics(
            DATA / "published" / "Label" / "covertype_deep_class_labels_5.csv"
        )
    assert "SoftMatch" not in set(exact.algorithm)


# Tidy files


def write(path, rows, header="algorithm,t,seed,score"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_tidy_with_seeds_and_more_keys(tmp_path):
    rows = [
        f"{name},{t},{seed},{0.9 - t * slope + seed / 100},{net}"
        for name, slope in (("a", 0.1), ("b", 0.3))
        for net in ("small", "large")
        for seed in (0, 1, 2)
        for t in (0, 1)
    ]
    path = write(tmp_path / "r.csv", rows, "algorithm,t,seed,score,net")
    table = robustssl.metrics(path, intervals=True)
    assert len(table) == 4
    assert list(table.columns[:7]) == [*KEYS[:-1], "net", "algorithm"]
    assert table[table.algorithm == "b"].EVM.tolist() == pytest.approx([0.3, 0.3])
    first = table.iloc[0]
    assert first.AUC_estimate == pytest.approx(first.AUC)
    assert first.AUC_low < first.AUC < first.AUC_high


def test_tidy_without_seeds_is_one_mean_curve(tmp_path):
    path = write(tmp_path / "r.csv", ["a,0,0.9", "a,1,0.7"], "algorithm,t,score")
    assert robustssl.metrics(path).AUC.tolist() == pytest.approx([0.8])


def test_a_seed_that_lacks_a_point_is_left_out_and_said(tmp_path):
    path = write(tmp_path / "r.csv", ["a,0,0,0.9", "a,1,0,0.7", "a,0,1,0.1"])
    with pytest.warns(UserWarning, match="1 of 2 seeds lack a point"):
        table = robustssl.metrics(path)
    assert table.Acc0.tolist() == [0.9]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a,0,0,0.9", "a,1,0,nan"], "score nan at t = 1"),
        (["a,0,0,0.9", "a,1,0,inf"], "score inf at t = 1"),
        (["a,0,0,0.9", "a,1.2,0,0.5"], "t between 0 and 1"),
        (["a,0,0,0.9", "a,0,0,0.8", "a,1,0,0.5"], "two scores for one t and seed"),
        (["a,0,0,0.9", "a,0.5,0,0.5"], "no curve is whole"),
        (["a,0,0,good", "a,1,0,0.5"], "cannot read"),
        ([], "holds no results"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*left out")
def test_bad_tidy_files(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        robustssl.metrics(write(tmp_path / "r.csv", rows))


def test_bad_places(tmp_path):
    with pytest.raises(InputError, match="there are no results"):
        robustssl.metrics(tmp_path)
    with pytest.raises(InputError, match="there is no file or folder"):
        robustssl.metrics(tmp_path / "nowhere")
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(InputError, match="cannot read"):
        robustssl.metrics(tmp_path)
    (tmp_path / "picture.csv").write_text("1,2,3\n")
    with pytest.raises(InputError, match="no header with `algorithm` and `t`"):
        robustssl.metrics(tmp_path / "picture.csv")
    with (
        pytest.warns(UserWarning, match="passed over"),
        pytest.raises(InputError, match="there are no results"),
    ):
        robustssl.metrics(tmp_path)
    (tmp_path / "picture.csv").unlink()
    (tmp_path / "iris_feature.csv").write_text("A,0,0.9,0\nA,0.2,high,0\n")
    with pytest.raises(InputError, match="line 2: cannot read"):
        robustssl.metrics(tmp_path)


def test_what_is_not_results_is_passed_over_in_a_folder(tmp_path):
    write(tmp_path / "r.csv", ["a,0,0,0.9", "a,1,0,0.7"])
    (tmp_path / "table.csv").write_text("algorithm,AUC\na,0.8\n")
    with pytest.warns(UserWarning, match=r"passed over: .*table\.csv"):
        assert len(robustssl.metrics(tmp_path)) == 1


def test_headers_and_names_as_people_write_them(tmp_path):
    rows = [
        f"{name}, {t}, 0, {0.9 - t / 2}, 0.25" for name in ("001", "NA", "None") for t in (0, 1)
    ]
    path = write(tmp_path / "r.csv", rows, "algorithm, t, seed, score, labels")
    table = robustssl.metrics(path)
    assert table.algorithm.tolist() == ["001", "NA", "None"]
    assert table.labels.tolist() == [0.25] * 3


@pytest.mark.filterwarnings("ignore:.*left out")
def test_the_score_that_is_asked_for_is_taken(tmp_path):
    rows, header = ["a,0,0,0.9,0.1", "a,1,0,0.8,0.2"], "algorithm,t,seed,score,f1"
    with pytest.raises(InputError, match=r"no curve is whole.*f1"):
        robustssl.metrics(write(tmp_path / "r.csv", rows, header))  # f1 might tell curves apart
    path = write(tmp_path / "r.csv", ["a,0,0,0.9", "a,1,0,0.8"], "algorithm,t,seed,f1")
    assert robustssl.metrics(path, score="f1").AUC.tolist() == pytest.approx([0.85])
    rows, header = ["a,0,0,0.9,0.1", "a,1,0,0.8,0.2"], "algorithm,t,seed,score,accuracy"
    path = write(tmp_path / "r.csv", rows, header)
    assert robustssl.metrics(path, score="accuracy").AUC.tolist() == pytest.approx([0.15])


def test_intervals_of_the_published_file_do_not_stumble_over_a_curve_cut_short():
    with pytest.warns(UserWarning, match="lacks t"):
        table = robustssl.metrics(RESULTS / "published.csv", "published", intervals=True)
    assert len(table) == 508


def test_another_score(tmp_path):
    path = write(
        tmp_path / "r.csv", ["a,0,0,0.9,0.5", "a,1,0,0.7,0.3"], "algorithm,t,seed,accuracy,auroc"
    )
    assert robustssl.metrics(path, score="auroc").AUC.tolist() == pytest.approx([0.4])
    with pytest.raises(InputError, match="unknown score"):
        robustssl.metrics(path, score="macro_f1")


# Export and import


@pytest.fixture
def ran(tmp_path, small):
    path = tmp_path / "ran.sqlite"
    robustssl.run({**small, "seeds": 2}, path, workers=1)
    return path


def test_a_store_its_exports_and_their_metrics_agree(tmp_path, ran):
    robustssl.export(ran, tmp_path / "r.jsonl")
    robustssl.export(ran, tmp_path / "r.csv")
    direct = robustssl.metrics(ran)
    assert len(direct) == 4
    for name in ("r.jsonl", "r.csv"):
        other = robustssl.metrics(tmp_path / name)
        pd.testing.assert_frame_equal(other, direct, check_dtype=False)


def test_import_is_the_inverse_of_export_and_never_overwrites(tmp_path, ran):
    file = tmp_path / "r.jsonl"
    count = robustssl.export(ran, file)
    new = tmp_path / "new.sqlite"
    loaded = robustssl.load(file, new)
    assert (loaded.added, loaded.known, loaded.conflicts) == (count, 0, ())
    with robustssl.Store(ran) as a, robustssl.Store(new) as b:
        assert list(a.records()) == list(b.records())
    again = robustssl.load(file, new)
    assert (again.added, again.known, again.conflicts) == (0, count, ())
    lines = file.read_text().splitlines()
    record = robustssl.Record.from_json(lines[0])
    altered = record.__class__(record.cell, record.versions, scores={"accuracy": 0.123})
    file.write_text(altered.to_json() + "\n")
    conflict = robustssl.load(file, new)
    assert (conflict.added, len(conflict.conflicts)) == (0, 1)
    with robustssl.Store(new) as b:
        assert next(iter(b.records())) == record


def test_an_export_with_old_versions_reads_like_its_store(tmp_path, ran, correct):
    correct("label_spreading", 9)
    study = {"algorithms": "label_spreading", "environments": "label", "datasets": "iris"}
    robustssl.run({**study, "labels": 3, "ts": [0, 0.5, 1], "seeds": 2}, ran, workers=1)
    robustssl.export(ran, tmp_path / "r.jsonl")
    direct = robustssl.metrics(ran)
    assert len(direct) == 4  # label_spreading in the feature environment is of an older version
    exported = robustssl.metrics(tmp_path / "r.jsonl")
    pd.testing.assert_frame_equal(exported, direct, check_dtype=False)


def test_a_broken_line_imports_nothing(tmp_path, ran):
    file = tmp_path / "r.jsonl"
    robustssl.export(ran, file)
    file.write_text(file.read_text()[:-40])
    with pytest.raises(InputError, match="line 24: not a record"):
        robustssl.load(file, tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()


def test_export_writes_what_it_can_name(tmp_path, ran):
    with pytest.raises(InputError, match=r"\.jsonl or \.csv"):
        robustssl.export(ran, tmp_path / "r.xlsx")
    with pytest.raises(InputError, match="cannot write"):
        robustssl.export(ran, tmp_path / "no" / "r.csv")


def test_curves_keep_seeds_in_order(tmp_path):
    path = write(tmp_path / "r.csv", ["a,1,1,0.2", "a,0,1,0.4", "a,0,0,0.9", "a,1,0,0.7"])
    (curve,) = curves(read(path))
    assert np.array_equal(curve.scores, [[0.9, 0.7], [0.4, 0.2]])
