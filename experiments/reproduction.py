"""Our numbers beside the published ones, for docs/reproduction.md:

robustssl run reproduce-statistical --store reproduction.sqlite
python experiments/reproduction.py reproduction.sqlite > table.md
python experiments/reproduction.py results/reproduction/deep
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from robustssl.analysis.interval import student_interval
from robustssl.records.results import read
from robustssl.spec import parse

PUBLISHED = Path(__file__).parents[1] / "results" / "published.csv"
NAMES = {
    "supervised_xgboost": "XGBoost",
    "ssgmm": "SSGMM",
    "tsvm": "TSVM",
    "label_propagation": "LabelPropagation",
    "label_spreading": "LabelSpreading",
    "tri_training": "Tri_Training",
    "assemble": "Assemble",
    "supervised_net": "FT_Transformer",
    "pseudo_label": "PseudoLabel",
    "pi_model": "PiModel",
    "ict": "ICT",
    "uda": "UDA",
    "fixmatch": "FixMatch",
    "flexmatch": "FlexMatch",
    "softmatch": "SoftMatch",
}
PLACE = ["environment", "dataset", "labels", "algorithm"]


def ours(store: str) -> pd.DataFrame:
    """Mean and spread over the seeds at every t."""
    frame = read(store)
    frame = frame[frame.environment.str.startswith("reference")]
    frame = frame.assign(
        environment=[parse(spec)[1].get("kind", "distribution") for spec in frame.environment],
        algorithm=[NAMES[parse(spec)[0]] for spec in frame.algorithm],
    )
    grouped = frame.groupby([*PLACE, "t"]).score
    return pd.DataFrame(
        {"ours": grouped.mean(), "seeds": grouped.size(), "spread": grouped.std(ddof=0)}
    )


def table(store: str) -> pd.DataFrame:
    theirs = pd.read_csv(PUBLISHED).set_index([*PLACE, "t"])[["printed", "std"]]
    both = ours(store).join(theirs, how="inner")
    rows = []
    for place, curve in both.groupby(level=PLACE, sort=False):
        difference = curve.ours - curve.printed
        rows.append(
            {
                **dict(zip(PLACE, place, strict=True)),
                "seeds": curve.seeds.min(),
                "ours": " ".join(f"{a:.3f}" for a in curve.ours),
                "published": " ".join(f"{a:.3f}" for a in curve.printed),
                "equal": f"{int((difference.abs() < 1e-8).sum())}/{len(curve)}",
                "mean difference": f"{difference.mean():+.3f}",
                "their noise": f"{curve['std'].mean():.3f}",
                "beyond it": "yes" if abs(difference.mean()) > curve["std"].mean() else "",
            }
        )
    return pd.DataFrame(rows).sort_values(["algorithm", *PLACE[:3]])


def summary(store: str) -> pd.DataFrame:
    """Over the curves of a method: how far ours are from the published, with an interval as if the
    curves were draws, and how far each moves with t.
    """
    theirs = pd.read_csv(PUBLISHED).set_index([*PLACE, "t"])[["printed"]]
    both = ours(store).join(theirs, how="inner")
    apart = (both.ours - both.printed).groupby(level=PLACE).mean()
    move = both[["ours", "printed"]].groupby(level=PLACE).agg(np.ptp)
    rows = []
    for name, part in apart.groupby(level="algorithm"):
        found = student_interval(part.to_numpy(), 0.95, (-1.0, 1.0))
        mine, published = move.xs(name, level="algorithm").mean()
        rows.append(
            {
                "": name,
                "curves": len(part),
                "mean difference": f"{found.estimate:+.3f} [{found.low:+.3f}, {found.high:+.3f}]",
                "largest": f"{part[part.abs().idxmax()]:+.3f}",
                "ours move by": f"{mine:.3f}",
                "published move by": f"{published:.3f}",
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    print(summary(sys.argv[1]).to_markdown(index=False, disable_numparse=True))
    frame = table(sys.argv[1])
    for algorithm, part in frame.groupby("algorithm", sort=False):
        points = np.array([[int(x) for x in cell.split("/")] for cell in part.equal])
        print(f"\n### {algorithm}: {points[:, 0].sum()} of {points[:, 1].sum()} points are equal\n")
        print(part.drop(columns="algorithm").to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    main()
