"""What reads a stranger's files, each as a function of bytes. Whatever the bytes are, it may raise
an `InputError` and nothing else.
"""

import io
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import robustssl
from robustssl import InputError
from robustssl.audits.reading import read as read_pair
from robustssl.records.files import read_records
from robustssl.records.results import read as read_results
from robustssl.registry.trust import trusting
from robustssl.spec import parse, spell
from robustssl.studies.study import study

LONGEST = 20_000  # characters of a sentence
SEPARATOR = b"\n--\n"  # between the two files of an audit


@contextmanager
def file(name: str, data: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        yield path


def spec(data: bytes) -> None:
    name, options = parse(data.decode(errors="replace"))
    assert parse(spell(name, options)) == (name, options) or any(v != v for v in options.values())


def a_study(data: bytes) -> None:
    with file("study.yaml", data) as path, trusting():
        study(path)


def record(data: bytes) -> None:
    found = robustssl.Record.from_json(data.decode(errors="replace"))
    assert robustssl.Record.from_json(found.to_json(), strict=True) == found


def packed_records(data: bytes) -> None:
    with file("records.jsonl.gz", data) as path:
        read_records(path)


def results(data: bytes) -> None:
    with file("results.csv", data) as path:
        read_results(path)


def audit(data: bytes) -> None:
    first, _, second = data.partition(SEPARATOR)
    with file("labeled.csv", first) as labeled, file("unlabeled.csv", second) as unlabeled:
        read_pair(labeled, unlabeled, "class")


def model(data: bytes) -> None:
    """The schema that a model file holds: which classes it names, and how they fit together."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("schema.json", data)
    with file("model.skops", packed.getvalue()) as path:
        robustssl.load_model(path)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "spec": spec,
    "study": a_study,
    "record": record,
    "packed_records": packed_records,
    "results": results,
    "audit": audit,
    "model": model,
}


def attempt(target: str, data: bytes) -> None:
    """Read the bytes; a sentence for the user is an answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            TARGETS[target](data)
        except InputError as error:
            if len(str(error)) > LONGEST:
                raise AssertionError("a sentence, not a file") from error
