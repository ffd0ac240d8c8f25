"""Pictures of environments: every kind is drawn, and what is inconsistent is marked."""

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from robustssl import InputError
from robustssl.pictures import environment as picture
from robustssl.pictures import panels
from robustssl.pictures.tasks import draw_tasks
from robustssl.reports.style import colours
from robustssl.sites.pictures import copy_picture, may_show, picture_name
from robustssl.splits import prepare


@pytest.mark.parametrize(
    ("environment", "dataset"),
    [
        *(("label", "wine"), ("feature", "wine"), ("prior", "wine"), ("feature", "toy:images")),
        *(("prior", "toy:images"), ("feature", "toy:texts"), ("label", "toy:texts")),
    ],
)
def test_every_kind_is_drawn(tmp_path, environment, dataset):
    files = picture.show(environment, dataset, tmp_path / "it", labels=3)
    assert [file.name for file in files] == ["it.png", "it.svg", "it.pdf"]
    assert all(file.stat().st_size > 5000 for file in files)


def test_inconsistent_images_are_framed():
    figure = picture._draw_images(prepare("toy:images", "feature", 3, 0))
    framed = [panel.spines["left"].get_visible() for panel in figure.axes]
    assert framed[:10] == [False] * 10
    assert framed[10:20] == [True] * 5 + [False] * 5
    assert framed[20:] == [True] * 10


def test_with_rows_added_the_consistent_ones_stay_in_the_picture():
    prepared = prepare("toy:images", "label[mix=add]", 3, 0)
    shown = [list(panels.examples(prepared, t, count)) for t, count in ((0.0, 5), (1.0, 10))]
    assert [inconsistent for *_, inconsistent in shown[1]] == [True] * 5 + [False] * 5
    for before, after in zip(shown[0], shown[1][5:], strict=True):
        assert np.array_equal(before[0], after[0])


def test_a_table_of_one_column_is_drawn_on_a_line(tmp_path):
    lines = ["a,kind", *(f"{i * 7 % 61},{'xy'[i % 2]}" for i in range(60))]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    mine = f"table[path={tmp_path / 'mine.csv'},target=kind]"
    assert picture.show("distribution", mine, tmp_path / "it")
    with pytest.raises(InputError, match="leave access out"):
        picture.show("label[access=labels]", "wine", tmp_path / "it")


def test_inconsistent_texts_are_in_colour():
    figure = picture._draw_texts(prepare("toy:texts", "feature", 3, 0))
    colour = matplotlib.colors.to_hex(colours()[1])
    marked = [
        [matplotlib.colors.to_hex(text.get_color()) == colour for text in panel.texts]
        for panel in figure.axes
    ]
    assert [sum(panel) for panel in marked] == [0, 2, 5]


def test_points_are_hollow_where_inconsistent():
    figure = picture._draw_points(prepare("wine", "label", 5, 0))
    hollow = [
        sum(len(c.get_offsets()) for c in panel.collections if not c.get_facecolor().size)
        for panel in figure.axes[:3]
    ]
    n = len(prepare("wine", "label", 5, 0).pools.inconsistent)
    assert hollow == [0, (n + 1) // 2, n]


@pytest.mark.parametrize(
    ("environment", "dataset", "draw"),
    [
        ("prior", "digits", picture._draw_points),
        ("label", "wine", picture._draw_points),
        ("prior", "toy:images", picture._draw_images),
        ("prior", "toy:texts", picture._draw_texts),
    ],
)
def test_bars_show_the_shares_of_the_classes(environment, dataset, draw):
    prepared = prepare(dataset, environment, 5, 0)
    pools = prepared.pools
    found = [panel for panel in draw(prepared).axes if panel.patches]
    assert len(found) == 3
    pool = {0.0: pools.consistent, 1.0: pools.inconsistent}
    for panel, t in ((found[0], 0.0), (found[2], 1.0)):
        bars = [bar.get_width() for bar in panel.patches]
        filled, hollow = bars[::2], bars[1::2]
        expected = np.bincount(pools.data.y[pool[t]], minlength=len(filled)) / len(pool[t])
        assert np.allclose(filled if t == 0 else hollow, expected)
        assert not any(hollow if t == 0 else filled)
    widths = [bar.get_width() for bar in found[1].patches]
    assert sum(widths) == pytest.approx(1)
    assert 0.4 < sum(widths[::2]) < 0.6


def test_classes_that_keep_their_shares_have_no_bars():
    assert not any(
        panel.patches for panel in picture._draw_points(prepare("wine", "distribution", 5, 0)).axes
    )
    assert len(picture._draw_images(prepare("toy:images", "feature", 3, 0)).axes) == 30


def test_many_classes_have_no_names_beside_their_bars(tmp_path):
    lines = ["a,kind", *(f"{i},{chr(97 + i % 20)}" for i in range(1200))]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    panel = Figure().subplots()
    mine = f"table[path={tmp_path / 'mine.csv'},target=kind]"
    panels.shares(panel, prepare(mine, "prior", 3, 0), 1.0)
    assert len(panel.patches) == 2 * 20
    assert not panel.get_yticklabels()


def test_rows_are_shown_only_under_a_licence_that_allows_it():
    shown = {
        name: may_show(name) for name in ("penbased", "fashion_mnist", "electricity", "digits")
    }
    assert all(shown.values())
    hidden = [
        "cifar10[rows=2000]",
        "imdb_amazon",
        "bbc_news",
        "newsgroups",
        "handwriting",
        "texture",
    ]
    assert not any(map(may_show, [*hidden, "toy:images", "nobody"]))


def test_images_that_may_not_be_shown_are_points():
    prepared = prepare("toy:images", "feature", 3, 0)
    assert all(panel.images for panel in picture.drawn(prepared).axes)
    points = picture.drawn(prepared, rows=False).axes
    assert not any(panel.images for panel in points)
    assert all(panel.collections for panel in points)


def test_of_many_rows_some_are_points_and_the_share_of_inconsistent_ones_stays():
    prepared = prepare("digits", "label", 3, 0)
    assert len(prepared.pools.consistent) > 400
    figure = picture.drawn(prepared)
    for panel, t in zip(figure.axes[:3], (0, 0.5, 1), strict=True):
        small = [c for c in panel.collections if c.get_sizes()[0] < 20]
        counts = dict.fromkeys((True, False), 0)
        for found in small:
            counts[len(found.get_facecolor()) > 0] += len(found.get_offsets())
        assert sum(counts.values()) == 240
        assert counts[False] == pytest.approx(240 * t, abs=2)


def test_tasks_of_a_study_are_drawn_once_whatever_their_labels_and_access(tmp_path):
    study = tmp_path / "study.yaml"
    study.write_text(
        "algorithms: [supervised_logistic]\ndatasets: [wine]\nlabels: [3, 6]\n"
        "environments: [label, 'label[access=labels]', feature]\n"
    )
    places = list(draw_tasks([str(study)], tmp_path / "pictures"))
    assert [place.name for place in places] == [
        picture_name(environment, "wine") for environment in ("label", "feature")
    ]
    assert picture_name("label", "wine") == picture_name("label[access=consistent]", "wine")
    for place in places:
        with Image.open(place) as image:
            assert image.width > 500
            told = {"environment": "label", "dataset": "wine", "data": "tabular"}
            assert place.stat().st_size < 20_000
    assert copy_picture(told, tmp_path / "copies") is None  # of no task that is published
    assert not (tmp_path / "copies").exists()
