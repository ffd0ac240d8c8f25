"""The figure on the page of an audit."""

import io
import re

from matplotlib.figure import Figure

from robustssl.audits import advice
from robustssl.audits.audit import Audit
from robustssl.reports.style import looks, style


def draw_gains(audit: Audit) -> Figure:
    """The gain of the best method by the share of the unlabeled rows that it is given."""
    keeping = audit.keeping
    shares, gains = [*keeping.gains], [*keeping.gains.values()]
    look = looks({keeping.method: False})[keeping.method]
    with style():
        figure = Figure(figsize=(5, 4), layout="constrained")
        panel = figure.add_subplot()
        panel.axhline(0, color="#444444", linewidth=0.8)
        panel.plot(shares, [gain.estimate for gain in gains], label=keeping.method, **look)
        low, high = ([getattr(gain, end) for gain in gains[1:]] for end in ("low", "high"))
        panel.fill_between(shares[1:], low, high, color=look["color"], alpha=0.1, linewidth=0)
        panel.set(xlabel=advice.SHARE_AXIS, ylabel="gain", xlim=(0, 1))
        figure.legend(loc="outside lower center", frameon=False)
    return figure


def svg(figure: Figure) -> str:
    """The svg element, without the XML declaration before it."""
    text = io.StringIO()
    with style():
        figure.savefig(
            text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
        )
    return re.sub(r"^.*?(?=<svg)", "", text.getvalue(), flags=re.DOTALL)
