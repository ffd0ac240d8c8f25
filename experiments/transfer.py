"""What does the rule transfer choose on the development tasks, and what is it worth there?

    python experiments/transfer.py records results/development

Reads the records of `search.py` and writes three files: `scores.csv.gz`, the accuracies of all
searches that are whole; `choices.json`, the settings, as `robustssl choose` writes them;
`gains.csv`, what each choice gains over the default. Gains are of expected accuracies under the
belief Beta(2, 5), by the rule over tasks: `gain` on the tasks that the choice was made on,
`gain_elsewhere` on each task with the setting that the other tasks of its kind choose. `moved`
counts the tasks without which another setting is chosen. Intervals are over seeds, with the choices
as they are.
"""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from development import read

from robustssl.analysis.candidates import PLACE, expected
from robustssl.analysis.choices import Choice, choose
from robustssl.analysis.density import BELIEF
from robustssl.analysis.interval import Interval
from robustssl.analysis.tasks import Part, over_tasks
from robustssl.cell import Task
from robustssl.records.frame import frame_of
from robustssl.spec import parse
from robustssl.studies.study import study

COLUMNS = [
    *("data", "method", "configuration", "algorithm", "baseline", "environment", "dataset"),
    *("drawn", "labels", "seed", "t", "accuracy", "digest"),
]
CELLS = ["method", "configuration", *PLACE, "seed", "t"]
UNIT = ["data", "method"]


def scores(folder: Path) -> pd.DataFrame:
    """The accuracies of searches that are whole on all tasks of a kind of data, seed by seed; of
    others those of the default, one try, where it is whole.
    """
    chosen = study("development")
    asked = set(chosen.cells())
    found = {record.cell: record for record in read(folder) if record.cell in asked}
    frame = frame_of([record for record in found.values() if record.error is None])
    frame = frame.assign(accuracy=frame.accuracy.round(6), digest=frame.digest.str[:12])
    tasks = frame.drop_duplicates([*PLACE]).groupby("data").size()
    cells = frame.groupby([*UNIT, "configuration", "seed"]).t.transform("size")
    frame = frame[cells == len(chosen.ts) * frame.data.map(tasks)]
    tries = frame.groupby([*UNIT, "seed"]).configuration.transform("nunique")
    whole = tries == 1 + frame.configuration.max()
    searched = whole.groupby([frame.data, frame.method]).transform("any")
    kept = frame[whole | (~searched & (frame.configuration == 0))]
    return kept.sort_values(CELLS)[COLUMNS].reset_index(drop=True)


def gains(frame: pd.DataFrame, made: tuple[Choice, ...]) -> Iterator[dict[str, object]]:
    """A row for each choice."""
    values = expected(frame, [*UNIT, "configuration", *PLACE, "drawn", "seed"], BELIEF)
    baselines = frame.drop_duplicates("method").set_index("method").baseline.dropna()
    for choice in made:
        mine = values.loc[choice.data, choice.method].unstack("configuration").dropna(axis=1)
        names = {Task(*place[:3]).name: place[:3] for place in mine.index}
        elsewhere = {names[name]: number for name, number in choice.without.items()}
        inside = _over(mine, dict.fromkeys(names.values(), choice.configuration))
        row = {
            "data": choice.data,
            "method": choice.method,
            "baseline": parse(baselines.get(choice.method, "none"))[0],
            "tries": choice.tries,
            "seeds": mine.index.get_level_values("seed").nunique(),
            "configuration": choice.configuration,
            "default": mine[0].groupby(PLACE).mean().mean(),
            "chosen": choice.accuracy,
            **_written("gain", inside),
        }
        if choice.tries > 1:
            away = _over(mine, elsewhere)
            moved = sum(number != choice.configuration for number in elsewhere.values())
            row |= {"elsewhere": row["default"] + away.estimate, "moved": moved}
            row |= _written("gain_elsewhere", away)
        yield row


def _written(name: str, gain: Interval) -> dict[str, float]:
    return {name: gain.estimate, f"{name}_low": gain.low, f"{name}_high": gain.high}


def _over(values: pd.DataFrame, numbers: dict[tuple[str, str, int], int]) -> Interval:
    """What configurations, one for each task, gain over the default."""
    parts = []
    for place, part in values.groupby(PLACE):
        gain = (part[numbers[place]] - part[0]).to_numpy()
        seeds = tuple(part.index.get_level_values("seed"))
        parts.append(Part(part.index.get_level_values("drawn")[0], seeds, gain))
    return over_tasks(parts)


def main(records: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True, parents=True)
    frame = scores(records)
    frame.to_csv(folder / "scores.csv.gz", index=False, compression={"method": "gzip", "mtime": 0})
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # one try, said in rows
        made = choose(frame)
    made.write(folder / "choices.json")
    table = pd.DataFrame(gains(frame, made.made)).round(4)
    table.to_csv(folder / "gains.csv", index=False)
    searched = table[table.tries > 1]
    print(searched.groupby("data")[["gain", "gain_elsewhere"]].describe().T.to_string())
    print(f"{len(frame)} accuracies; sha256 {made.sha256}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
