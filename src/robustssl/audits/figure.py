"""The figure on the page of an audit."""

import io
import re

from matplotlib.figure import Figure

from robustssl.audits import advice
from robustssl.audits.audit import Audit
from robustssl.audits.gains import TS
from robustssl.reports.style import looks, style


def draw_gains_over_t(audit: Audit) -> Figure:
    """The gain of each method over its baseline as t grows, and the t of these rows."""
    gains, t = audit.gains, audit.inconsistency.distribution
    with style():
        figure = Figure(figsize=(5, 4), layout="constrained")
        panel = figure.add_subplot()
        panel.axvspan(t.low, t.high, color="#eeeeee", linewidth=0, label=advice.T_HERE)
        panel.axhline(0, color="#444444", linewidth=0.8)
        for name, look in looks(dict.fromkeys(gains.baselines, False)).items():
            folds = len(gains.curves[name])
            alone = gains.scores[gains.baselines[name]][:folds, None]
            difference = gains.curves[name] - alone
            bands = [gains.interval(values) for values in difference.T]
            panel.plot(TS, difference.mean(0), label=name, **look)
            low, high = [band.low for band in bands], [band.high for band in bands]
            panel.fill_between(TS, low, high, color=look["color"], alpha=0.1, linewidth=0)
        panel.set(xlabel=advice.T_AXIS, ylabel="gain")
        panel.set_xlim(0, 1)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def svg(figure: Figure) -> str:
    """The svg element, without the XML declaration before it."""
    text = io.StringIO()
    with style():
        figure.savefig(
            text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
        )
    return re.sub(r"^.*?(?=<svg)", "", text.getvalue(), flags=re.DOTALL)
