"""How figures look: one style, and for an algorithm the same colour, marker and dash everywhere."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

from robustssl import registry
from robustssl.analysis.table import trait
from robustssl.errors import InputError

_STYLE = Path(__file__).with_name("robustssl.mplstyle")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_DASHES = ("-", "--", "-.", ":")
_GREYS = ("#777777", "#aaaaaa")

# A place in this list is a look for good: new methods are added at the end.
_ORDER = (
    *("fixmatch", "self_training", "label_spreading", "ssgmm", "mean_teacher", "uda", "vat"),
    *("label_propagation", "pi_model", "tsvm", "flexmatch", "tri_training", "mixmatch", "ict"),
    *("assemble", "freematch", "co_training", "softmatch", "pseudo_label", "cast", "safe_ensemble"),
    *("temporal_ensembling", "uasd", "cafa", "mtcf", "fix_a_step", "defixmatch", "ggr"),
    *("adamatch", "openmatch", "iomatch", "scomatch", "ssb", "scarf", "feature_dropout"),
    *("bidirectional_adaptation",),
)


@contextmanager
def style(own: str | Path | None = None) -> Iterator[None]:
    """The project's style, and over it a file of one's own."""
    import matplotlib.style

    try:
        with matplotlib.style.context([_STYLE, *([Path(own)] if own else [])]):
            yield
    except OSError as error:
        if own is None:
            raise
        raise InputError(f"cannot read the style {own}: {error}") from error


def colours() -> list[str]:
    """Those of the style in use."""
    found: list[str] = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
    return found


def looks(algorithms: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Of each algorithm its colour, marker and dash. Those of a built-in one are its own; any other
    has what its name says, or the next that is free among these.
    """
    names = sorted(set(algorithms), key=lambda name: (name not in _ORDER, name))
    palette, found = colours(), dict[str, dict[str, Any]]()
    baselines = [name for name in names if trait(name, "supervised")]
    for name in baselines:
        place = _place(name)
        dash = _DASHES[place // len(_GREYS) % len(_DASHES)]
        found[name] = {"color": _GREYS[place % len(_GREYS)], "linestyle": dash, "zorder": 1}
    taken: set[int] = set()
    for name in (name for name in names if name not in found):
        place, lines = _place(name), len(palette) * len(_DASHES)
        if name not in _ORDER:
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


def _place(algorithm: str) -> int:
    if algorithm in _ORDER:
        return _ORDER.index(algorithm)
    baselines = [name for name in registry.names("algorithm") if name.startswith("supervised")]
    if algorithm in baselines:
        return baselines.index(algorithm)
    return int(hashlib.sha256(algorithm.encode()).hexdigest(), 16)
