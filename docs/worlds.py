"""The pictures of the page worlds.md, on real data: python docs/worlds.py [FOLDER]

Each picture has a row for images, texts and a table, and two columns, a lower and a higher t.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from robustssl import registry
from robustssl.pictures import panels
from robustssl.reports.style import style
from robustssl.splits import prepare

IMAGES, TEXTS, TABLE = "cifar10[rows=6000]", "bbc_news", "wine"
LABELS, SEED = 5, 0


def pictures(panel, prepared, t, count, most):
    """Images in rows of five, with room for the most that there are at any t."""
    grid = panel.subplots(most // 5, 5, squeeze=False).flat
    for empty in grid[: most - count]:
        empty.set_axis_off()
    panels.images(grid[most - count :], prepared, t)


def many(panel, prepared, t, *_):
    """Twice as many images as elsewhere, to see what they have in common."""
    pictures(panel, prepared, t, 20, 20)


def sentences(panel, prepared, t, count, most):
    """The beginnings of texts, half as many as images."""
    *empty, axes = panel.subplots(most // count, 1, squeeze=False).flat
    for above in empty:
        above.set_axis_off()
    panels.texts(axes, prepared, t, count=count // 2, width=50)


def dots(panel, prepared, t, *_):
    """Rows of a table, all on the scale of the panel that was drawn first."""
    drawn = panel.figure.axes[-1] if t and panel.figure.axes else None
    panels.points(panel.add_subplot(sharex=drawn, sharey=drawn), prepared, t)


def cells(panel, prepared, t, *_):
    """A corner of a table; in colour the values that are lost."""
    axes = panel.subplots()
    axes.set_axis_off()
    whole = panels.unlabeled(prepared, 0.0)[0][:5, :5]
    left = panels.unlabeled(prepared, t)[0][:5, :5]
    names = [str(name).replace("_", "\n")[:18] for name in COLUMNS]
    for row, values in enumerate([names, *left]):
        for column, value in enumerate(values):
            lost = row and value != whole[row - 1, column]
            axes.text(
                *((column + 0.5) / 5, 1 - (row + 0.5) / 6),
                value if isinstance(value, str) else f"{value:.4g}",
                color=panels.marked() if lost else "#333333",
                fontsize=8 if row else 7,
                ha="center",
                va="center",
            )


def bars(panel, prepared, t, *_):
    """Shares of the classes."""
    axes = panel.subplots()
    panels.shares(axes, prepared, t)
    most = max(np.bincount(prepared.pools.data.y[prepared.pools.inconsistent]))
    axes.set_xlim(0, 1.05 * most / len(prepared.pools.inconsistent))


def stacks(panel, prepared, t, *_):
    """Shares of the classes as bars of images: 40 of them, in proportion."""
    data = prepared.pools.data
    X, rows, inconsistent = panels.unlabeled(prepared, t)
    size, edge = data.X.shape[1], 2
    cell, classes = size + 2 * edge, len(np.unique(data.y))
    canvas = np.full((classes * cell, 10 * cell, 3), 255, np.uint8)
    for code in range(classes):
        of_class = np.flatnonzero(data.y[rows] == code)
        for place, row in enumerate(of_class[: round(40 * len(of_class) / len(rows))]):
            square = canvas[code * cell :, place * cell :][:cell, :cell]
            if inconsistent[row]:
                square[:] = np.array(to_rgb(panels.marked())) * 255
            square[edge:-edge, edge:-edge] = X[row]
    axes = panel.subplots()
    axes.imshow(canvas, interpolation="nearest")
    axes.set_yticks(
        (np.arange(classes) + 0.5) * cell,
        [data.class_name(k) for k in range(classes)],
        fontsize=7,
    )
    axes.set_xticks([])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


COLUMNS = ("alcohol", "malic_acid", "ash", "alkalinity", "magnesium")
MARKS = {
    pictures: "framed: inconsistent",
    many: "framed: inconsistent",
    sentences: "in colour: inconsistent",
    dots: "a dot is a row of the table, a colour a class; large: labeled; hollow: inconsistent",
    cells: "in colour: lost, and replaced by the mean of the labeled rows",
    bars: "share of each class; hollow: inconsistent",
    stacks: "40 images, in proportion to the shares of the classes; framed: inconsistent",
}
# Of each picture: the environment, the dataset, how it is drawn, and how high.
WORLDS = {
    "distribution": [
        ("distribution[source=mnist,target=usps]", "handwriting", pictures, 1.75),
        ("distribution[source=imdb,target=amazon]", "imdb_amazon", sentences, 1.45),
        ("distribution", TABLE, dots, 2.1),
    ],
    "biased": [
        ("distribution[labeled=biased]", IMAGES, many, 2.9),
        ("distribution[labeled=biased]", TEXTS, sentences, 1.45),
        ("distribution[labeled=biased]", TABLE, dots, 2.1),
    ],
    "label": [
        ("label", IMAGES, pictures, 1.75),
        ("label", TEXTS, sentences, 1.45),
        ("label", TABLE, dots, 2.1),
    ],
    "feature": [
        ("feature", IMAGES, pictures, 1.75),
        ("feature", TEXTS, sentences, 1.45),
        ("feature", TABLE, cells, 1.45),
    ],
    "prior": [
        ("prior", IMAGES, stacks, 2.75),
        ("prior", TEXTS, bars, 1.45),
        ("prior", TABLE, bars, 1.2),
    ],
    "composed": [
        ("label+feature", IMAGES, pictures, 1.75),
        ("label+feature", TEXTS, sentences, 1.45),
        ("label+feature", TABLE, dots, 2.1),
    ],
    "add": [
        ("label[mix=add]", IMAGES, pictures, 2.9),
        ("label[mix=add]", TEXTS, sentences, 2.1),
        ("label[mix=add]", TABLE, dots, 2.1),
    ],
}
KINDS = {"image": "Images", "text": "Texts", "tabular": "A table"}


def draw(name, rows, folder):
    """One picture: a row for each dataset, t = 0 on the left."""
    heights = [height + 0.4 for *_, height in rows]
    figure = Figure(figsize=(6.4, sum(heights)), layout="constrained")
    strips = figure.subfigures(len(rows), 1, height_ratios=heights, squeeze=False)[:, 0]
    for strip, (environment, dataset, drawn, _) in zip(strips, rows, strict=True):
        spec = registry.canonical("environment", environment)
        prepared = prepare(registry.canonical("dataset", dataset), spec, LABELS, SEED)
        strip.suptitle(title(prepared), x=0.01, ha="left", fontsize=10, fontweight="bold")
        strip.supxlabel(MARKS[drawn], fontsize=7.5, color="#555555")
        ts = (0.0, 0.5 if drawn is cells else 1.0)
        counts = (10, 20 if prepared.environment.mix == "add" else 10)
        sides = strip.subfigures(1, 2, wspace=0.06)
        for side, t, count in zip(sides, ts, counts, strict=True):
            side.suptitle(f"t = {t:g}", fontsize=9)
            drawn(side, prepared, t, count, max(counts))
    figure.savefig(folder / f"{name}.png", dpi=130, pil_kwargs={"optimize": True})


def title(prepared):
    """The kind of data, the dataset and, where there are, the domains."""
    data = prepared.pools.data
    domains = [getattr(prepared.environment, key, None) for key in ("source", "target")]
    between = f": {domains[0]}, then {domains[1]}" if all(domains) else ""
    return f"{KINDS[data.kind]} ({data.name}{between})"


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "worlds"
    out.mkdir(exist_ok=True)
    with style():
        for name, rows in WORLDS.items():
            draw(name, rows, out)
