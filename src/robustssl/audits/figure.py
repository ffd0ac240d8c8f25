"""The picture of an audit: the gain by the share of the unlabeled rows that is used."""

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from matplotlib.ticker import MaxNLocator

from robustssl.audits.audit import Audit

WIDTH, HEIGHT = 360, 250
LEFT, RIGHT, TOP, BOTTOM = 44, 348, 22, 196  # of the panel

TEMPLATES = Environment(
    loader=PackageLoader("robustssl.audits", "templates"),
    autoescape=select_autoescape(("html", "svg")),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def draw_gain(audit: Audit) -> str:
    """An svg element that needs no style: its lines and words have the colour of the text around
    it.
    """
    found, scale = audit.keeping, 100 if audit.gains.score == "accuracy" else 1
    known = {share: gain for share, gain in found.gains.items() if share}
    ends = [scale * end for gain in known.values() for end in (gain.low, gain.high, 0.0)]
    ticks = MaxNLocator(5, min_n_ticks=3).tick_values(min(ends), max(ends))
    bottom, top = ticks[0], ticks[-1]

    def x(share: float) -> float:
        return round(LEFT + share * (RIGHT - LEFT), 1)

    def y(value: float) -> float:
        return round(TOP + (top - value) / (top - bottom) * (BOTTOM - TOP), 1)

    points = [(x(share), y(scale * gain.estimate)) for share, gain in found.gains.items()]
    band = [(x(0), y(0)), *((x(share), y(scale * gain.high)) for share, gain in known.items())]
    band += [(x(share), y(scale * gain.low)) for share, gain in reversed(known.items())]
    return TEMPLATES.get_template("gain.svg").render(
        size=(WIDTH, HEIGHT),
        panel=(LEFT, RIGHT, TOP, BOTTOM),
        zero=y(0),
        ticks=[(y(tick), f"{tick:+g}" if tick else "0") for tick in ticks],
        shares=[(x(share), f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1)],
        points=points,
        band=band,
        best=(x(found.best.estimate), y(scale * found.gains[found.best.estimate].estimate)),
        axis="more right answers in 100 than without unlabeled rows" if scale == 100 else "gain",
    )
