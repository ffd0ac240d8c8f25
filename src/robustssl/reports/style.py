"""How figures look: one style, and for an algorithm the same colour, marker and dash everywhere;
and how they are saved.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from robustssl.errors import InputError, printable
from robustssl.records import catalog

_STYLE = Path(__file__).with_name("robustssl.mplstyle")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_DASHES = ("-", "--", "-.", ":")
_GREYS = ("#777777", "#aaaaaa")


_PRINTED = {  # sizes of a figure that is printed as wide as it is
    "font.size": 7,
    "axes.titlesize": 7,
    "legend.fontsize": 6.5,
    "legend.title_fontsize": 6,
    "xtick.labelsize": 6,
    "ytick.labelsize": 6,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.0,
    "lines.markersize": 2.5,
    "savefig.dpi": 300,
}


@contextmanager
def style(own: str | Path | None = None, *, printed: bool = False) -> Iterator[None]:
    """The project's style, that of a printed figure, and over them a file of one's own."""
    import matplotlib.style

    try:
        styles: list[Any] = [
            _STYLE,
            *([_PRINTED] if printed else []),
            *([Path(own)] if own else []),
        ]
        with matplotlib.style.context(styles):
            yield
    except OSError as error:
        if own is None:
            raise
        raise InputError(f"cannot read the style {own}: {error}") from error


def colours() -> list[str]:
    """Those of the style in use."""
    found: list[str] = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
    return found


def looks(methods: Mapping[str, bool | None]) -> dict[str, dict[str, Any]]:
    """Colour, marker and dash of each method, given by name with whether it is supervised. Those of
    a built-in algorithm are its own; any other gets one by its name that is still free.
    """
    known = catalog.looks()
    names = sorted(methods, key=lambda name: (name not in known, name))
    palette, found = colours(), dict[str, dict[str, Any]]()
    for name in filter(methods.get, names):
        place = known.get(name, _place(name))
        dash = _DASHES[place // len(_GREYS) % len(_DASHES)]
        found[name] = {"color": _GREYS[place % len(_GREYS)], "linestyle": dash, "zorder": 1}
    taken: set[int] = set()
    for name in (name for name in names if name not in found):
        place, lines = known.get(name, _place(name)), len(palette) * len(_DASHES)
        if name not in known:
            free = [k for k in range(lines) if k not in {t % lines for t in taken}]
            free = free or [k for k in range(lines * len(MARKERS)) if k not in taken] or [place]
            place = free[place % len(free)]
        taken.add(place)
        found[name] = {
            "color": palette[place % len(palette)],
            "marker": MARKERS[place % len(MARKERS)],
            "linestyle": _DASHES[place // len(palette) % len(_DASHES)],
            "zorder": 2,
        }
    return found


def in_figures(name: str) -> str:
    """A name that matplotlib writes as it is: a $ in it begins no formula."""
    return printable(name).replace("$", r"\$")


def save(figure: Figure, path: Path) -> list[Path]:
    """The figure as PNG, SVG and PDF; the same figure is the same file. It is laid out once, as
    for the PNG, which takes as long as to draw it.
    """
    png, svg, pdf = (path.with_suffix(suffix) for suffix in (".png", ".svg", ".pdf"))
    if (layout := figure.get_layout_engine()) is not None:
        figure.set_dpi(matplotlib.rcParams["savefig.dpi"])
        layout.execute(figure)
        figure.set_layout_engine(None)
    figure.savefig(png)
    figure.savefig(svg, metadata={"Date": None})
    figure.savefig(pdf, metadata={"CreationDate": None})
    return [png, svg, pdf]


def _place(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)
