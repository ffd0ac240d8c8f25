"""The studies that have a name, as the keys and values a file of one would hold."""

from collections.abc import Mapping
from typing import Any

from robustssl.spec import spell

_REFERENCE = (
    *("ssgmm", "tsvm", "label_propagation"),
    *("label_spreading", "tri_training", "assemble"),
)

_REFERENCE_NETS = (
    *("pseudo_label", "pi_model", "ict", "uda"),
    *("fixmatch", "flexmatch", "softmatch"),
)

_ROBUST = (
    *("uasd", "cafa", "mtcf", "fix_a_step", "defixmatch", "ggr"),
    *("adamatch", "bidirectional_adaptation"),
    *("openmatch", "iomatch", "scomatch", "ssb", "scarf", "feature_dropout"),
)

_STATISTICAL = (
    *("supervised_logistic", "self_training", "co_training", "safe_ensemble"),
    *("supervised_kernel", "label_propagation", "label_spreading"),
    *("supervised_gaussian", "ssgmm", "supervised_svm", "tsvm", "supervised_boosting", "assemble"),
    *("supervised_xgboost", "tri_training", "cast"),
)

_NETS = (
    *("supervised_net", "pseudo_label", "pi_model", "temporal_ensembling", "mean_teacher", "vat"),
    *("uda", "ict", "mixmatch", "fixmatch", "flexmatch", "freematch", "softmatch", *_ROBUST),
)

_NOT_FOR_IMAGES = ("scarf", "feature_dropout")  # they lose features, which pixels are not

_FAMILIES = (  # one method each, for the oracle and the ceiling
    *("self_training", "label_spreading", "ssgmm", "tsvm", "assemble"),
    *("mean_teacher", "mixmatch", "fixmatch"),
)


def _capped(*environments: str, **options: str) -> list[str]:
    """With at most 1,000 rows to test and 1,000 without labels."""
    options = {**options, "test": "1000", "unlabeled": "1000"}
    return [spell(name, options) for name in environments]


def _leaderboard(**access: str) -> dict[str, dict[str, Any]]:
    """The tasks of each kind of data."""
    tables = {
        "budget": "table",
        "environments": _capped("distribution", "label", "feature", **access),
        "datasets": ["iris", "wine", "penbased", "letter", "covertype", "electricity"],
        "exclude": [  # two classes: none could be unknown
            {"environment": _capped("label", **access)[0], "dataset": "electricity"}
        ],
        "labels": [5],
    }
    digits = [
        *_capped("distribution", source="mnist", target="usps", **access),
        *_capped("distribution", source="usps", target="mnist", **access),
        *_capped("label", "feature", **access),
    ]
    reviews = [
        *_capped("distribution", source="each", target="each", **access),
        *_capped("feature", **access),
    ]
    both = _capped("label", "feature", **access)
    return {
        "tables": tables,
        "images of two domains": {
            "budget": "image",
            "environments": digits,
            "datasets": ["handwriting"],
            "total_labels": [100],
        },
        "images": {
            "budget": "image",
            "environments": both,
            "labels": [20],
            "datasets": ["digits[kind=image]", "cifar10"],
        },
        "texts of two domains": {
            "budget": "text",
            "environments": reviews,
            "datasets": ["imdb_amazon"],
            "total_labels": [100],
        },
        "texts": {
            "budget": "text",
            "environments": both,
            "labels": [20],
            "datasets": ["bbc_news", "newsgroups"],
        },
    }


def _part(kind: str) -> dict[str, Any]:
    """The leaderboard's studies of a kind of data."""
    every = [n for n in (*_STATISTICAL, *_NETS) if kind != "images" or n not in _NOT_FOR_IMAGES]
    parts = [
        {**study, "title": f"Leaderboard: {name}", "algorithms": every}
        for name, study in _leaderboard().items()
        if name.startswith(kind)
    ]
    return {"title": f"The leaderboard's {kind}: every algorithm", "parts": parts}


NAMED: Mapping[str, Mapping[str, Any]] = {
    "quickstart": {
        "title": "Four learners and their baselines on three small tables, in three environments",
        "algorithms": [
            *("supervised_logistic", "self_training"),
            *("supervised_kernel", "label_spreading"),
            *("supervised_gaussian", "ssgmm"),
            *("supervised_net", "fixmatch"),
        ],
        "environments": ["distribution", "label", "feature"],
        "datasets": ["iris", "wine", "digits"],
        "labels": [5],
    },
    "robust-digits": {
        "title": "The methods that claim robustness, FixMatch and their baseline, on digits",
        "algorithms": ["supervised_net", "fixmatch", *_ROBUST],
        "environments": ["distribution", "label", "feature"],
        "datasets": ["digits"],
        "labels": [5],
    },
    "reproduce-statistical": {
        "title": "The statistical algorithms as the published benchmark ran them, on its splits",
        "algorithms": [
            "supervised_xgboost",
            *(f"{name}[preset=reference]" for name in _REFERENCE),
        ],
        "environments": [
            f"reference[kind={kind}]" for kind in ("distribution", "feature", "label")
        ],
        "datasets": ["iris", "wine", "letter"],
        "labels": [5, 10],
        "exclude": [  # ten thousand steps on a full graph: minutes to an hour a cell
            {"algorithm": "label_propagation[preset=reference]", "dataset": "letter"}
        ],
    },
    "reproduce-deep": {
        "title": "The deep algorithms as the published benchmark ran them, on its splits",
        "budget": "reference",
        "algorithms": [
            "supervised_net",
            *(f"{name}[preset=reference]" for name in _REFERENCE_NETS),
        ],
        "environments": [
            f"reference[kind={kind}]" for kind in ("distribution", "feature", "label")
        ],
        "datasets": ["iris", "wine"],
        "labels": [5],
    },
    "leaderboard": {
        "title": "Every algorithm on tables, images and texts, with oracles and ceilings",
        "parts": [f"leaderboard-{part}" for part in ("tables", "images", "texts", "references")],
    },
    **{f"leaderboard-{kind}": _part(kind) for kind in ("tables", "images", "texts")},
    "leaderboard-references": {
        "title": "The leaderboard's oracles and ceilings, for one method of each family",
        "parts": [
            {**study, "title": f"{word.title()}: {name}", "algorithms": [*_FAMILIES]}
            for word, access in (("oracle", "consistent"), ("ceiling", "labels"))
            for name, study in _leaderboard(access=access).items()
        ],
    },
}
