"""Datasets: fetched where that is quick, read from files, and refused with a clear message."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import robustssl
from robustssl import InputError, registry
from robustssl.data import Dataset, digest
from robustssl.datasets import table
from robustssl.datasets._first import first_rows
from robustssl.downloads.sources import openml_images
from robustssl.execution.worker import run_group


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path / "cache"))
    registry.dataset.cache_clear()
    yield tmp_path / "cache"
    registry.dataset.cache_clear()


@pytest.mark.parametrize(
    ("name", "kind", "shape", "classes", "digest"),
    [
        ("letter", "tabular", (20000, 16), 26, "e2ca99e7985aaddc"),
        ("bbc_news", "text", (2225,), 5, "57b2913842b8af05"),
        ("imdb_amazon", "text", (28610,), 2, "399bf257dcbad9ff"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("magic", "tabular", (19020, 10), 2, "e5568c1a4c338963"),
                ("satimage", "tabular", (6435, 36), 6, "7a83212c20edbc62"),
                ("texture", "tabular", (5500, 40), 11, "5bda6c55aee23f9e"),
                ("reuters_r8", "text", (7674,), 8, "44c4511fe2cb0cdb"),
                ("election_tweets", "text", (6444,), 2, "18b067bfea5dbb98"),
            )
        ),
    ],
)
def test_fetched_for_real_and_then_without_a_connection(
    cache, monkeypatch, name, kind, shape, classes, digest
):
    data = robustssl.dataset(name)
    assert (data.kind, data.X.shape, len(data.meta["classes"])) == (kind, shape, classes)
    assert data.meta["owner"]
    assert data.meta["licence"]
    assert data.sha256[:16] == digest
    registry.dataset.cache_clear()

    def no_connection(*_, **__):
        raise AssertionError("a cached set needs no connection")

    with monkeypatch.context() as offline:
        offline.setattr("socket.socket.connect", no_connection)
        offline.setattr("subprocess.run", no_connection)
        again = robustssl.dataset(name)
    assert again.sha256 == data.sha256
    for environment in ("label", "distribution", "feature"):
        no_domains = kind == "text" and data.domain is None
        if (environment == "label" and classes < 3) or (
            environment == "distribution" and no_domains
        ):
            continue
        spec = f"{environment}[test=300,unlabeled=200]"
        (record,) = run_group((robustssl.Cell("label_spreading", spec, name, 5, 0.4, 0),))
        assert record.error is None
        assert record.scores["accuracy"] > 1.5 / classes or classes == 2


def test_a_file_of_ones_own_that_is_bad_is_not_kept(cache):
    cache.mkdir()
    X = np.zeros((2, 4, 4, 3))  # not bytes
    np.savez(cache / "cifar100.npz", X=X, y=np.array([0, 1]), classes=np.array(["a", "b"]))
    with pytest.raises(InputError, match="images are bytes"):
        robustssl.dataset("cifar100")
    X = X.astype(np.uint8)
    np.savez(cache / "cifar100.npz", X=X, y=np.array([0, 1]), classes=np.array(["a", "b"]))
    assert robustssl.dataset("cifar100").X.shape == (2, 4, 4, 3)


@pytest.mark.slow
def test_what_cannot_be_had_says_what_to_download_and_where_to_put_it(cache):
    with pytest.raises(InputError, match="cifar-100-binary, the unpacked archive") as refused:
        robustssl.dataset("cifar100")
    assert "cifar100.npz, with the arrays X" in str(refused.value)
    with pytest.raises(InputError, match=r"ag_news_csv, with train.csv and test.csv"):
        robustssl.dataset("agnews")


def test_cifar100_from_its_binary_files(cache):
    folder = cache / "cifar-100-binary"
    folder.mkdir(parents=True)
    X = np.random.default_rng(0).integers(0, 256, (6, 3, 32, 32), dtype=np.uint8)
    for name, rows in (("train.bin", range(4)), ("test.bin", range(4, 6))):
        records = [bytes([0, i % 3]) + X[i].tobytes() for i in rows]
        (folder / name).write_bytes(b"".join(records))
    (folder / "fine_label_names.txt").write_text("apple\nbear\nbed\n")
    data = robustssl.dataset("cifar100")
    assert np.array_equal(data.X, X.transpose(0, 2, 3, 1))
    assert data.y.tolist() == [0, 1, 2, 0, 1, 2]
    assert data.meta["classes"] == ["apple", "bear", "bed"]


def test_agnews_from_its_csv_files(cache):
    folder = cache / "ag_news_csv"
    folder.mkdir(parents=True)
    (folder / "train.csv").write_text('"3","Oil up","Prices rise"\n"2","Cup","A goal"\n')
    (folder / "test.csv").write_text('"1","Vote","A poll"\n"4","Chip","A bug"\n')
    data = robustssl.dataset("agnews")
    assert data.X[0] == "Oil up. Prices rise"
    assert [data.meta["classes"][k] for k in data.y] == ["business", "sports", "world", "science"]


def test_images_from_openml_lie_there_channel_by_channel(monkeypatch):
    X = np.random.default_rng(0).integers(0, 256, (20, 32, 32, 3), dtype=np.uint8)
    rows = pd.DataFrame(np.moveaxis(X, -1, 1).reshape(20, -1))
    y = pd.Series([str(i % 10) for i in range(20)], dtype="category")
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: (rows, y))
    classes, sha256 = list("abcdefghij"), digest(X, np.arange(20) % 10)
    arrays = openml_images(1, (3, 32, 32), classes, sha256).get()
    assert np.array_equal(arrays["X"], X)
    assert arrays["y"].tolist() == [*range(10), *range(10)]
    with pytest.raises(InputError, match="the sha256 of its rows must be"):
        openml_images(1, (3, 32, 32), classes, "0" * 64).get()


def test_names_of_rows_are_no_column(tmp_path):
    (tmp_path / "r.csv").write_text("p,q,y\n" + "".join(f"n{i},{i},2,{i % 2}\n" for i in range(9)))
    assert table.read_frame(tmp_path / "r.csv").p.tolist() == list(range(9))
    (tmp_path / "r.csv").write_text("p,y\n" + "".join(f"n,{i},{i % 2}\n" for i in range(9)))
    with pytest.raises(InputError, match="more fields than its header names"):
        table.read_frame(tmp_path / "r.csv")


def test_what_was_put_into_the_cache_by_hand_comes_first(cache):
    cache.mkdir()
    X = np.random.default_rng(0).integers(0, 256, (4, 8, 8, 3), dtype=np.uint8)
    np.savez(cache / "cifar10.npz", X=X, y=np.array([0, 1, 0, 1]), classes=np.array(["a", "b"]))
    assert np.array_equal(robustssl.dataset("cifar10").X, X)
    lines = "text,label,domain\nA good film,good,imdb\nNA,bad,amazon\n"
    (cache / "imdb_amazon.csv").write_text(lines)
    data = robustssl.dataset("imdb_amazon")
    assert data.X.tolist() == ["A good film", "NA"]
    assert data.domain.tolist() == ["imdb", "amazon"]


# Data of one's own


def test_a_table_of_ones_own(tmp_path):
    frame = pd.DataFrame(
        {"a": [1, 2, 3, 4], "b": list("xyxy"), "kind": list("ppqq"), "site": list("mmnn")}
    )
    frame.to_csv(tmp_path / "mine.csv", index=False)
    data = robustssl.dataset(f"table[path={tmp_path / 'mine.csv'},target=kind,domain=site]")
    assert data.X.tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0], [4, 0, 1]]
    assert data.y.tolist() == [0, 0, 1, 1]
    assert data.domain.tolist() == list("mmnn")


def test_a_parquet_file_is_the_same_table(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1.5, 2, 3, 4], "b": list("xyxy"), "kind": list("ppqq")})
    frame.to_csv(tmp_path / "mine.csv", index=False)
    frame.to_parquet(tmp_path / "mine.parquet")
    one, other = (
        robustssl.dataset(f"table[path={tmp_path / name},target=kind]")
        for name in ("mine.csv", "mine.parquet")
    )
    assert one.sha256 == other.sha256
    (tmp_path / "bad.parquet").write_text("no")
    with pytest.raises(InputError, match=r"cannot read .*bad\.parquet"):
        robustssl.dataset(f"table[path={tmp_path / 'bad.parquet'},target=kind]")


def test_arrays_of_ones_own(tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array(["b", "a", "b"])
    np.savez(tmp_path / "mine.npz", X=X, y=y)
    data = robustssl.dataset(f"table[path={tmp_path / 'mine.npz'}]")
    assert np.array_equal(data.X, X)
    assert data.y.tolist() == [1, 0, 1]
    np.savez(tmp_path / "other.npz", Z=X)
    with pytest.raises(InputError, match="must hold the arrays X and y"):
        robustssl.dataset(f"table[path={tmp_path / 'other.npz'}]")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,k\n1,x\n", "target=j", "unknown column of .* 'j'; there is: a, k"),
        ("a,k\n1,x\n", "", "name the column that holds the classes"),
        ("a,k\n1,x\n2,\n", "target=k", "row 1 has no k"),
        ("a,k\n1,x\n,y\n", "target=k", "row 1 of the column 'a' is empty"),
        ("a,k\n1,x\ntwo,y\n", "target=k", "the column 'a' holds numbers, but also 'two'"),
        ('a,k\n1,"x\n', "target=k", "cannot read"),
    ],
)
def test_a_table_that_is_refused(tmp_path, text, options, message):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        robustssl.dataset(f"table[path={path},{options}]")
    with pytest.raises(InputError, match="there is no file"):
        robustssl.dataset("table[path=nowhere.csv,target=k]")


def test_image_folders(tmp_path):
    rng = np.random.default_rng(0)
    for domain in ("photo", "sketch"):
        for kind in ("cat", "dog"):
            (tmp_path / domain / kind).mkdir(parents=True)
            for i in range(3):
                pixels = rng.integers(0, 255, (20, 30, 3), dtype=np.uint8)
                Image.fromarray(pixels).save(tmp_path / domain / kind / f"{i}.png")
    data = robustssl.dataset(f"image_folder[path={tmp_path},size=8]")
    assert data.X.shape == (12, 8, 8, 3)
    assert sorted(set(data.domain)) == ["photo", "sketch"]
    assert data.meta["classes"] == ["cat", "dog"]
    alone = robustssl.dataset(f"image_folder[path={tmp_path / 'photo'},size=8]")
    assert alone.domain is None
    (tmp_path / "photo" / "cat" / "9.png").write_text("no picture")
    with pytest.raises(InputError, match=r"9\.png is not an image"):
        robustssl.dataset(f"image_folder[path={tmp_path},size=9]")
    with pytest.raises(InputError, match="CLASS/file or as DOMAIN/CLASS/file"):
        robustssl.dataset(f"image_folder[path={tmp_path / 'photo' / 'cat'}]")
    with pytest.raises(InputError, match="there is no folder"):
        robustssl.dataset("image_folder[path=nowhere]")


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (["p,p,y", "1,2,a"], "target=y", "two columns named 'p'"),
        (["y", "a", "b"], "target=y", "no column besides that of the classes"),
        (["p,y"], "target=y", "has no rows"),
        (["p,y,s", "1,a,x", "2,b,"], "target=y,domain=s", "row 1 has no s"),
        (["p,y", "1,a", "2,"], "target=y", "row 1 has no y"),
        (["p,y", *(f"name {i},{i % 2}" for i in range(60))], "target=y", "60 different words"),
    ],
)
def test_tables_that_are_refused(tmp_path, lines, options, message):
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    with pytest.raises(InputError, match=message):
        robustssl.dataset(f"table[path={tmp_path / 'mine.csv'},{options}]")


def test_names_that_look_like_numbers(tmp_path):
    lines = ["p,7,007,site", *(f"{i},{i % 2},x,{2019 + i % 3}" for i in range(60))]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    data = robustssl.dataset(f"table[path={tmp_path / 'mine.csv'},target=7,domain=site]")
    assert data.meta["classes"] == ["0", "1"]
    environment = robustssl.environment("distribution[source=2020,target=2021]")
    near, far = environment.divide(data, None)
    assert set(data.domain[near]) == {"2020"}
    assert set(data.domain[far]) == {"2021"}
    with pytest.raises(InputError, match=r"unknown column of .* '008'"):
        robustssl.dataset(f"table[path={tmp_path / 'mine.csv'},target=008]")


def test_arrays_may_have_domains_and_damage_is_told(tmp_path):
    file = tmp_path / "mine.NPZ"
    with file.open("wb") as opened:
        np.savez(opened, X=np.eye(4), y=np.arange(4) % 2, domain=np.array(list("aabb")))
    assert robustssl.dataset(f"table[path={file}]").domain.tolist() == list("aabb")
    with pytest.raises(InputError, match="y is the target"):
        robustssl.dataset(f"table[path={file},target=z]")
    whole = file.read_bytes()
    for damage in (b"", whole[:100]):
        file.write_bytes(damage)
        registry.dataset.cache_clear()
        with pytest.raises(InputError, match="must hold the arrays X and y"):
            robustssl.dataset(f"table[path={file}]")


def test_image_folders_of_every_sort(tmp_path):
    for k in range(8):
        folder = tmp_path / "of" / "ab"[k % 2]
        folder.mkdir(parents=True, exist_ok=True)
        deep = np.full((4, 4), 8000 * k, np.uint16)
        Image.fromarray(deep).save(folder / f"{k}.png")
    hidden = tmp_path / "of" / ".thumbnails"
    hidden.mkdir()
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(hidden / "0.png")
    data = robustssl.dataset(f"image_folder[path={tmp_path / 'of'},size=4]")
    assert data.meta["classes"] == ["a", "b"]
    assert sorted({int(x.max()) for x in data.X}) == [8000 * k // 256 for k in range(8)]
    for size in ("0", "3.5", "x"):
        with pytest.raises(InputError, match="size must be a whole number of pixels"):
            robustssl.dataset(f"image_folder[path={tmp_path / 'of'},size={size}]")


def test_whole_numbers_are_numbers_and_a_kind_is_one_of_three():
    data = robustssl.Dataset("mine", np.arange(6).reshape(3, 2), np.array([0, 1, 1]))
    assert data.X.dtype == float
    with pytest.raises(InputError, match="unknown kind of mine 'audio'"):
        robustssl.Dataset("mine", np.eye(2), np.arange(2), kind="audio")
    with pytest.raises(InputError, match="mine has no rows"):
        robustssl.Dataset("mine", np.empty((0, 2)), np.empty(0, int))


def test_a_digest_covers_domains_and_where_texts_end():
    y = np.arange(2)
    one, other = (
        robustssl.Dataset("d", np.eye(2), y, domain=np.array(list(d), object)) for d in ("ab", "ba")
    )
    assert one.sha256 != other.sha256
    texts = [["a1 b", "c"], ["a", "b1 c"]]
    one, other = (robustssl.Dataset("d", np.array(t, object), y, kind="text") for t in texts)
    assert one.sha256 != other.sha256


def test_the_first_rows_are_as_many_of_each_class_in_each_domain():
    y, domain = np.arange(60) % 2, np.repeat(np.array(["a", "b"], object), [40, 20])
    data = Dataset("mine", np.arange(60.0)[:, None], y, domain=domain)
    some = first_rows(data, 12)
    assert some.X[:, 0].tolist() == [0, 1, 2, 3, 4, 5, 40, 41, 42, 43, 44, 45]
    assert Counter(zip(some.domain, some.y.tolist(), strict=True)) == Counter(
        {(name, k): 3 for name in "ab" for k in (0, 1)}
    )
    for count in (10, 44):
        with pytest.raises(InputError, match="a multiple of the 4 classes in their domains"):
            first_rows(data, count)
