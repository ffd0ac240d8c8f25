"""Identity decides key and randomness."""

from dataclasses import replace

import pytest

from robustssl import Cell, InputError
from robustssl.cell import Task, cell_key
from robustssl.registry import key
from robustssl.registry import versions as versions_of

CELL = Cell("label_spreading", "label", "iris", 5, 0.2, 0)
CHANGES = [
    {"algorithm": "self_training"},
    {"environment": "feature"},
    {"dataset": "wine"},
    {"labels": 6},
    {"t": 0.4},
    {"seed": 1},
    {"params": (("alpha", 0.5),)},
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_field_changes_the_key(change):
    assert key(replace(CELL, **change)) != key(CELL)


@pytest.mark.parametrize("place", range(3))
def test_every_version_changes_the_key(place):
    versions = list(versions_of(CELL))
    versions[place] += 1
    assert cell_key(CELL, tuple(versions)) != cell_key(CELL, versions_of(CELL)) == key(CELL)


def test_the_key_is_the_same_for_ever():
    """Stores on people's disks hold this key; a change of it makes all of them stale."""
    assert cell_key(CELL, (1, 1, 1)) == "b7d1a71e85bf4a3a25dad2d208690dde"


@pytest.mark.parametrize("change", CHANGES)
def test_randomness_depends_on_the_named_fields_alone(change):
    (name,) = change
    other = replace(CELL, **change)
    names = {"dataset", "labels", "seed"}
    same = CELL.rng(*names).random() == other.rng(*names).random()
    assert same == (name not in names)
    assert CELL.rng(name).random() != other.rng(name).random()


def test_randomness_of_no_such_field():
    with pytest.raises(KeyError):
        CELL.rng("sead")


@pytest.mark.parametrize(("change", "message"), [({"t": 1.1}, "got 1.1"), ({"labels": 0}, "got 0")])
def test_a_cell_that_cannot_be(change, message):
    with pytest.raises(InputError, match=message):
        replace(CELL, **change)


def test_t_has_six_decimals():
    assert key(replace(CELL, t=0.1 + 0.2)) == key(replace(CELL, t=0.3))


def test_method_is_a_spec():
    assert replace(CELL, params=(("alpha", 0.5),)).spec == "label_spreading[alpha=0.5]"


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ("label[known=drawn]", "unknown classes, known classes drawn"),
        ("label[unknown=near]", "unknown classes, near ones"),
        ("label[unknown=bbc_news]", "unknown classes, rows of bbc_news"),
        ("prior[labeled=tail]", "other class shares, labels with the reverse tail"),
        ("distribution[labeled=biased]", "other distribution, biased labels"),
        ("prior+feature", "other class shares and missing features"),
        ("distribution+feature[source=a,target=b]", "a to b and missing features"),
    ],
)
def test_options_of_an_environment_in_words(environment, words):
    assert Task(environment, "letter", 5).name == f"letter, {words}, 5 labels a class"
