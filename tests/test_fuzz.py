"""Whatever a file holds, reading it ends in a value or in a sentence.

`tests/data/fuzz` holds what a fuzzer found worth keeping (`experiments/fuzz.py`), among them all
inputs that once ended in another way.
"""

import random
from pathlib import Path

import pytest
from fuzz_targets import TARGETS, attempt

CORPUS = Path(__file__).parent / "data" / "fuzz"
FOUND = {target: sorted((CORPUS / target).iterdir()) for target in TARGETS}


WORDS = [b"[", b"]", b"{", b'"', b",", b"=", b":", b"1e400", b"-1", b"\x00", b"\xe2\x80\xa8"]


def mutated(data, chance):
    """A few bytes changed, cut, doubled or put elsewhere."""
    for _ in range(chance.randint(1, 6)):
        a, b = sorted(chance.choices(range(len(data) + 1), k=2))
        piece = data[a : min(b, a + 64)]
        what = chance.choice(["flip", "cut", "double", "insert"])
        if what == "flip" and data:
            at = chance.randrange(len(data))
            data = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        elif what == "cut":
            data = data[:a] + data[a + len(piece) :]
        elif what == "double":
            data = data[:a] + piece * chance.choice([2, 3, 50]) + data[a:]
        else:
            word = chance.choice(
                [b"[", b"]", b"{", b'"', b",", b"=", b":", b"1e400", b"-1", b"\x00"]
            )
            data = data[:a] + word + data[a:]
    return data


@pytest.mark.parametrize("target", TARGETS)
def test_whatever_a_file_holds_reading_it_ends_in_a_sentence(target):
    assert FOUND[target]
    chance = random.Random(0)
    for path in FOUND[target]:
        data = path.read_bytes()
        for variant in (data, *(mutated(data, chance) for _ in range(3))):
            try:
                attempt(target, variant)
            except BaseException as error:
                raise AssertionError(f"{target}, from {path.name}: {variant!r}") from error
