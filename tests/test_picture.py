"""Pictures of environments: every kind is drawn, and what is inconsistent is marked."""

import matplotlib.colors
import pytest

from robustssl import InputError
from robustssl.pictures import environment as picture
from robustssl.reports.style import colours
from robustssl.splits import prepare


@pytest.mark.parametrize(
    ("environment", "dataset"),
    [("label", "wine"), ("feature", "wine"), ("feature", "toy:images"), ("label", "toy:texts")],
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
    figure = picture._draw_images(prepare("toy:images", "label[mix=add]", 3, 0))
    framed = [panel.spines["left"].get_visible() for panel in figure.axes]
    assert framed[20:] == [True] * 5 + [False] * 5


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
    assert [sum(panel) for panel in marked] == [0, 3, 5]


def test_points_are_hollow_where_inconsistent():
    figure = picture._draw_points(prepare("wine", "label", 5, 0))
    hollow = [
        sum(len(c.get_offsets()) for c in panel.collections if not c.get_facecolor().size)
        for panel in figure.axes
    ]
    n = len(prepare("wine", "label", 5, 0).pools.inconsistent)
    assert hollow == [0, (n + 1) // 2, n]
