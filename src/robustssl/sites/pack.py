"""The payload of a site as files of JavaScript, small enough to load: numbers as base64.

A score that is a share of test rows, as accuracies are, is kept as the number of these rows, which
is exact and takes two bytes; other scores are kept as they are, in eight. `static/unpack.js` reads
them.
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

MICRO = 1_000_000  # metrics are kept to six decimals, as whole numbers
UNKNOWN = -(2**31)  # such a number where a metric is undefined
NOTES = ("", "~", "no interval", "identical")
_FIELDS = ("task", "method", "baseline", "older")


def packed(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names of files and their texts; the first is all that a page needs to begin."""
    curves = data["curves"]
    names = sorted({curve["baselineName"] for curve in curves if curve["baselineName"]})
    columns = {name: [curve[name] for curve in curves] for name in _FIELDS}
    columns["baselineName"] = [
        names.index(curve["baselineName"]) if curve["baselineName"] else None for curve in curves
    ]
    columns["seconds"] = [_short(curve["seconds"]) for curve in curves]
    first, *others = data["scores"]
    index = {**data, "baselines": names, "curves": columns}
    index["parts"] = {f"score-{first}": _scores(data, first)}
    yield "data.js", f"const ROBUSTSSL = {_written(index)};\n"
    for name in others:
        yield f"score-{name}.js", _part(f"score-{name}", _scores(data, name))
    for name in data["scores"]:
        yield f"metrics-{name}.js", _part(f"metrics-{name}", _metrics(data, name))


def _part(name: str, document: Mapping[str, Any]) -> str:
    return f"ROBUSTSSL.parts[{_written(name)}] = {_written(document)};\n"


def _written(document: Any) -> str:
    """As a script takes it: no text in it can end the script."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _scores(data: Mapping[str, Any], score: str) -> dict[str, Any]:
    """A score of all curves that have it, their values by curve, seed and t."""
    ids = [i for i, curve in enumerate(data["curves"]) if score in curve["scores"]]
    found = [data["curves"][i]["scores"][score] for i in ids]
    return {
        "score": score,
        "curves": ids,
        "identical": [i for i, of in zip(ids, found, strict=True) if of["identical"]],
        **{name: [of[name] for of in found] for name in ("grid", "seeds", "rows")},
        **_values(found),
    }


def _values(found: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    values = np.concatenate([np.ravel(of["values"]) for of in found])
    rows = np.concatenate([np.full(np.size(of["values"]), of["rows"] or np.nan) for of in found])
    counts = np.round(values * rows)
    if np.array_equal(counts / rows, values) and counts.max() < 2**16:
        return {"numbers": "rows", "values": _base64(counts.astype("<u2"))}
    return {"numbers": "values", "values": _base64(values.astype("<f8"))}


def _metrics(data: Mapping[str, Any], score: str) -> dict[str, Any]:
    """By curve, convention and metric: value, estimate and ends of its interval, and its note."""
    ids = [i for i, curve in enumerate(data["curves"]) if score in curve["scores"]]
    found = [
        numbers
        for i in ids
        for name in data["conventions"]
        for numbers in data["curves"][i]["scores"][score]["metrics"][name]
    ]
    values = np.array([numbers[:4] for numbers in found], float)
    whole = np.where(np.isnan(values), UNKNOWN, np.round(values * MICRO))
    notes = "".join(str(NOTES.index(numbers[4])) for numbers in found)
    told = {"metrics": score, "curves": ids, "notes": notes}
    return {**told, "values": _base64(whole.astype("<i4"))}


def _base64(values: npt.NDArray[Any]) -> str:
    return b64encode(values.tobytes()).decode("ascii")


def _short(seconds: float) -> float | None:
    return float(f"{seconds:.3g}") if np.isfinite(seconds) else None
