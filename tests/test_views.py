"""Views: what a weak and a strong view do to a row, against Pillow where it does the same."""

import io
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image, ImageEnhance, ImageOps

from robustssl.downloads.packages import Carrier
from robustssl.views import _randaugment, images, texts, views_of
from robustssl.views.images import ImageViews
from robustssl.views.tables import TableViews
from robustssl.views.vectors import VectorViews

LEVELS = torch.tensor([0.02, 0.3, 0.6, 0.98])  # of an operation: far down, down, up, far up


@pytest.fixture
def pixels():
    """Four smooth pictures of 24x24 that do not use all of 0 to 255."""
    rng = np.random.default_rng(0)
    small = rng.integers(30, 220, (4, 6, 6, 3), dtype=np.uint8)
    return np.stack([np.asarray(Image.fromarray(p).resize((24, 24))) for p in small])


def operated(pixels, k, levels=LEVELS):
    """Operation number k of RandAugment, as bytes with the channels last."""
    count = len(_randaugment._COLOURS) + len(_randaugment._SHAPES)
    which = torch.full((len(pixels),), (k + 0.5) / count)
    found = _randaugment.operate(images.to_unit(torch.from_numpy(pixels)), which, levels, False)
    return (found.movedim(1, -1) * 255).numpy()


def name_of(k):
    return _randaugment._COLOURS[k].__name__.strip("_")


def pillow(name, picture, level):
    amount, sign = abs(2 * level - 1), (-1 if level < 0.5 else 1)
    factor = 1 + 0.9 * amount * sign
    done = {
        "identity": lambda: picture,
        "autocontrast": lambda: ImageOps.autocontrast(picture),
        "equalize": lambda: ImageOps.equalize(picture),
        "solarize": lambda: ImageOps.solarize(picture, math.floor(255 * (1 - 0.9 * amount)) + 1),
        "posterize": lambda: ImageOps.posterize(picture, 8 - round(0.9 * amount * 4)),
        "colour": lambda: ImageEnhance.Color(picture).enhance(factor),
        "contrast": lambda: ImageEnhance.Contrast(picture).enhance(factor),
        "brightness": lambda: ImageEnhance.Brightness(picture).enhance(factor),
        "sharpness": lambda: ImageEnhance.Sharpness(picture).enhance(factor),
    }
    return np.asarray(done[name]()).astype(float)


@pytest.mark.parametrize("k", range(len(_randaugment._COLOURS)))
def test_colours_are_changed_as_pillow_changes_them(pixels, k):
    name, found = name_of(k), operated(pixels, k)
    near = {"contrast": 2.5, "sharpness": 2.5}.get(name, 1.5)  # Pillow counts in whole numbers
    for ours, picture, level in zip(found, pixels, LEVELS, strict=True):
        theirs = pillow(name, Image.fromarray(picture), float(level))
        assert np.abs(ours - theirs).max() <= near, name
    changed = np.abs(found - pixels).max() > 3
    assert changed == (name != "identity")


def test_a_rotation_is_pillows(pixels):
    found = operated(pixels, len(_randaugment._COLOURS))
    for ours, picture, level in zip(found, pixels, LEVELS, strict=True):
        angle = 30 * 0.9 * (2 * float(level) - 1)
        theirs = Image.fromarray(picture).rotate(
            angle, Image.Resampling.BILINEAR, fillcolor=(127, 127, 127)
        )
        inner = np.abs(ours - np.asarray(theirs).astype(float))[6:-6, 6:-6]
        assert inner.max() < 3


@pytest.mark.parametrize(("place", "axis"), [(3, 2), (4, 1)])
def test_a_shift_moves_the_picture(pixels, place, axis):
    level = torch.full((4,), 0.5 + 0.5 * (2 / 24) / (0.3 * 0.9))  # two pixels
    found = operated(pixels, len(_randaugment._COLOURS) + place, level)
    moved = np.roll(pixels.astype(float), -2, axis)
    inner = (slice(None), slice(3, -3), slice(3, -3))
    assert np.abs(found[inner] - moved[inner]).max() < 1
    edge = np.moveaxis(found, axis, 1)[:, -2:]
    assert np.abs(edge - 127).max() < 1


@pytest.mark.parametrize(("place", "axis"), [(1, 2), (2, 1)])
def test_a_shear_leaves_the_middle_and_moves_the_ends_apart(place, axis):
    stripes = np.zeros((1, 24, 24, 3), np.uint8)
    stripes[:, :, 11:13] = 255
    stripes = stripes if axis == 2 else stripes.swapaxes(1, 2).copy()
    found = operated(stripes, len(_randaugment._COLOURS) + place, torch.tensor([0.99]))[0, ..., 0]
    found = (found if axis == 2 else found.T)[:, 4:-4]  # without the grey that comes in
    middle = (found * np.arange(16)).sum(1) / found.sum(1)
    steps = np.diff(middle)[4:-4]
    assert np.allclose(steps, steps[0], atol=0.05)
    assert abs(steps[0]) == pytest.approx(0.3 * 0.9 * 0.98, abs=0.05)


def test_every_operation_is_drawn_equally_often(pixels):
    which = torch.rand(7000, generator=torch.Generator().manual_seed(0))
    count = len(_randaugment._COLOURS) + len(_randaugment._SHAPES)
    assert count == 14
    drawn = torch.bincount((which * count).long(), minlength=count)
    assert drawn.min() > 400


def test_a_weak_view_flips_and_shifts_with_the_border_reflected(pixels):
    chance = torch.tensor([[0.2, 0.0, 0.99], [0.8, 0.5, 0.5], [0.8, 0.99, 0.0], [0.2, 0.5, 0.5]])
    found = images.weak_view(images.to_unit(torch.from_numpy(pixels)), chance)
    found = (found.movedim(1, -1) * 255).round().numpy()
    for ours, picture, (flip, down, right) in zip(found, pixels, chance.tolist(), strict=True):
        flipped = picture[:, ::-1] if flip < 0.5 else picture
        padded = np.pad(flipped, ((3, 3), (3, 3), (0, 0)), mode="reflect")
        top, left = int(down * 7), int(right * 7)
        assert np.array_equal(ours, padded[top : top + 24, left : left + 24])


def test_a_square_of_half_the_width_is_cut_out():
    white = torch.ones(2, 3, 24, 24)
    found = images._cut_out(white, torch.tensor([[0.5, 0.5], [0.0, 0.99]]))
    grey = (found - 127 / 255).abs() < 1e-6
    assert grey[0].sum() == 3 * 12 * 12
    assert found[0, :, 12, 12].tolist() == pytest.approx([127 / 255] * 3)
    assert grey[1, :, 0, 23].all()
    assert 0 < grey[1].sum() < grey[0].sum()


def test_a_strong_view_is_a_weak_one_with_more_done_to_it(pixels):
    views, rng = ImageViews(), np.random.default_rng(0)
    rows = torch.from_numpy(np.concatenate([pixels] * 25))
    weak = torch.from_numpy(views.draw(rng, (100,), "weak"))
    strong = torch.from_numpy(views.draw(rng, (100,), "strong"))
    plain = views.plain(rows)
    near = (views.view(rows, weak, "weak") - plain).abs().mean()
    far = (views.view(rows, strong, "strong") - plain).abs().mean()
    assert 0 < near < far
    found = views.view(rows, strong, "strong")
    assert found.shape == (100, 3, 24, 24)
    assert 0 <= found.min() <= found.max() <= 1
    assert torch.equal(found, views.view(rows, strong, "strong"))


@pytest.mark.parametrize("channels", [1, 3])
def test_grey_pictures_too(channels):
    rng = np.random.default_rng(0)
    rows = torch.from_numpy(rng.integers(0, 256, (30, 16, 16, channels), dtype=np.uint8))
    views = views_of("image", (16, 16, channels), (0.1, 0.2), (0, 0))
    strong = torch.from_numpy(views.draw(rng, (30,), "strong"))
    assert views.view(rows, strong, "strong").isfinite().all()


def test_rows_of_a_table_get_noise_of_the_size_asked_for():
    views, rng = views_of("table", (5,), (0.1, 0.3), (0, 0)), np.random.default_rng(0)
    assert isinstance(views, TableViews)
    rows = torch.zeros(4000, 5)
    for strength, size in (("weak", 0.1), ("strong", 0.3)):
        chance = torch.from_numpy(views.draw(rng, (4000,), strength))
        assert float(views.view(rows, chance, strength).std()) == pytest.approx(size, rel=0.03)
    assert torch.equal(views.plain(rows), rows)


def test_rows_of_a_bank_have_views_of_each_strength():
    views, rng = views_of("vectors", (3,), (0.1, 0.2), (2, 3)), np.random.default_rng(0)
    assert views == VectorViews(2, 3)
    bank = torch.arange(6.0)[None, :, None].expand(7, 6, 3) + 10 * torch.arange(7.0)[:, None, None]
    views = replace(views, bank=bank)  # ten times a row's place, and the number of its version
    rows = torch.full((1000,), 4)
    for strength, versions in (("weak", {41.0, 42.0}), ("strong", {43.0, 44.0, 45.0})):
        chance = torch.from_numpy(views.draw(rng, (1000,), strength))
        found = views.view(rows, chance, strength)
        assert found.shape == (1000, 3)
        assert set(found[:, 0].tolist()) == versions
        share = float((found[:, 0] == min(versions)).float().mean())
        assert share == pytest.approx(1 / len(versions), abs=0.06)
    assert torch.equal(views.plain(rows), torch.full((1000, 3), 40.0))
    assert torch.equal(views.plain(bank[:, 0]), bank[:, 0])


def test_operations_on_the_images_that_drew_them_are_those_on_all():
    rows = torch.randint(0, 256, (200, 8, 8, 3), dtype=torch.uint8)
    chance = torch.from_numpy(ImageViews().draw(np.random.default_rng(0), (200,), "strong"))
    one, other = (ImageViews(branching).view(rows, chance, "strong") for branching in (False, True))
    assert torch.equal(one, other)
    assert ImageViews(branching=True).view(rows[:1], chance[:1], "strong").equal(one[:1])


# Texts


@pytest.fixture
def any_synonym(monkeypatch):
    """Every word has one, in capitals."""

    class Upper(dict):
        def get(self, word, default=None):
            return [word.upper()]

    monkeypatch.setattr(texts, "_synonyms", Upper)


def long_text(words):
    """Sentences of ten words, no word twice."""
    return " ".join(f"word{k}{'.' if k % 10 == 9 else ''}" for k in range(words))


@pytest.mark.parametrize("words", [200, 2000])
def test_a_view_changes_a_share_of_a_text_however_long_it_is(words, any_synonym):
    text = long_text(words)

    def mean(count, shares):
        found = [texts.changed(text, shares, np.random.default_rng(k)) for k in range(40)]
        return np.mean([count(view) for view in found])

    def left_out(view):
        return 1 - len(view.split()) / words

    def in_capitals(view):
        return sum(word.startswith("WORD") for word in view.split()) / words

    def elsewhere(view):
        starts = [int(word[4:].rstrip(".")) for word in view.split()][::10]
        return np.mean([start != 10 * place for place, start in enumerate(starts)])

    assert mean(left_out, texts.Shares(0, 0.2, 0)) == pytest.approx(0.2, abs=0.02)
    assert mean(in_capitals, texts.Shares(0, 0, 0.3)) == pytest.approx(0.3, abs=0.02)
    assert mean(in_capitals, texts.Shares(0, 0.5, 0.4)) == pytest.approx(0.2, abs=0.02)
    assert mean(elsewhere, texts.Shares(0.5, 0, 0)) == pytest.approx(0.5, abs=0.07)
    assert texts.changed(text, texts.Shares(0, 0, 0), np.random.default_rng(0)) == text
    moved = texts.changed(text, texts.Shares(1, 0, 0), np.random.default_rng(0))
    assert sorted(moved.split()) == sorted(text.split())
    assert moved != text


def test_sentences_stay_whole_and_what_has_no_full_stop_is_cut():
    assert texts._sentences("One two. Three?  Four!\nfive") == [
        *(["One", "two."], ["Three?"], ["Four!"], ["five"])
    ]
    assert [len(s) for s in texts._sentences("word " * 70)] == [30, 30, 10]


def test_a_view_of_a_text_depends_on_the_text_and_the_version_alone(any_synonym):
    rows = np.array([long_text(n) for n in (50, 80, 120)], object)
    found = texts.with_views(rows, 2, 3)
    assert found.shape == (3, 6)
    assert found[:, 0].tolist() == rows.tolist()
    assert len(set(found.ravel())) == 18
    assert np.array_equal(texts.with_views(rows[::-1], 2, 3), found[::-1])
    assert np.array_equal(texts.with_views(rows[1:2], 2, 3), found[1:2])
    kept = [[len(set(row[0].split()) & set(view.split())) for view in row[1:]] for row in found]
    assert np.mean(np.array(kept)[:, :2]) > 1.2 * np.mean(np.array(kept)[:, 2:])


def test_no_view_is_empty(any_synonym):
    for text in ("x", "one two", "..."):
        found = {
            texts.changed(text, texts.Shares(1, 0.9, 0.5), np.random.default_rng(k))
            for k in range(50)
        }
        assert all(view.strip() for view in found)


def test_short_words_are_not_replaced_for_they_are_symbols_to_wordnet(any_synonym):
    found = texts.changed("he was in a film", texts.Shares(0, 0, 1), np.random.default_rng(0))
    assert found == "he was in a FILM"


def test_versions_of_a_text_are_its_own_and_differ_in_strength(monkeypatch):
    words = [f"w{i}" for i in range(40)]
    monkeypatch.setattr(texts, "_synonyms", lambda: {w: [f"{w}x", f"{w}y"] for w in words})
    text = " ".join(words)
    first = texts.text_versions(np.array([text, "w1 w2"], object))
    again = texts.text_versions(np.array(["w7", text], object))
    assert [v[0] for v in first] == [v[1] for v in again]
    changed = [sum(a != b for a, b in zip(v[0].split(), words, strict=True)) for v in first]
    assert changed == [1, 1, 5, 5]
    assert len({v[0] for v in first}) == 4


# Two lines of each of the four files, as WordNet lays them out: offset, file, kind, how many words
# (in hexadecimal), the words, each with a number, and then what does not matter here.
WORDNET = [
    "  1 The licence.\n00000001 06 n 03 car 0 auto 0 motor_car 0 001 @ 00000009 n 0000 | x\n",
    "00000001 38 v 02 stop 0 halt 1 000 | x\n00000002 30 v 01 stops 0 000 | x\n",
    "00000001 00 a 0a big 0 large 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0 great(a) 0 000 | x\n",
    "00000001 02 r 03 quickly 0 Rapidly 0 speedily 0 000 | x\n",
]


def test_synonyms(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path))
    files = [io.BytesIO(text.encode()) for text in WORDNET]
    monkeypatch.setattr(Carrier, "members", lambda *_: files)
    texts._synonyms.cache_clear()
    text = "A big car stops (quickly), then zzz stop."
    synonyms = texts._synonyms()
    assert synonyms["car"] == ["auto"]  # of two words there is none
    assert synonyms["quickly"] == ["rapidly", "speedily"]
    assert len(synonyms["big"]) == 9
    assert "great" in synonyms["big"]
    assert "stops" not in synonyms
    rng = np.random.default_rng

    def changed(count, seed):
        new = texts._replace_words(text, count, rng(seed))
        return [(a, b) for a, b in zip(text.split(), new.split(), strict=True) if a != b]

    for seed in range(5):
        assert len(changed(1, seed)) == 1
        assert changed(1, seed) == changed(1, seed)
        assert len(changed(5, seed)) == 4  # big, car, quickly, stop
        for old, new in changed(5, seed):
            bare = "".join(filter(str.isalpha, old)).lower()
            assert "".join(filter(str.isalpha, new)) in synonyms[bare]
    assert dict(changed(5, 0))["(quickly),"] in ("(rapidly),", "(speedily),")
    assert texts._replace_words("zzz", 5, rng(0)) == "zzz"
    texts._synonyms.cache_clear()


def test_views_import_without_torch():
    script = "import sys, robustssl.views.texts, robustssl.splits; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
