"""Settings chosen on development tasks, kept in a file, and applied to other tasks."""

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import pandas as pd

from robustssl.analysis.candidates import PLACE, candidates, check_single, expected, task_of
from robustssl.analysis.density import BELIEF, Belief
from robustssl.cell import Task, task_names
from robustssl.errors import InputError

_SETTING = ["data", "method", "configuration"]


@dataclass(frozen=True)
class Choice:
    """The configuration of a method for a kind of data: its setting (a spec), its expected accuracy
    over `tasks` development tasks, of how many `tries` it is the best, and what would be chosen
    `without` each of the tasks.
    """

    data: str
    method: str
    configuration: int
    setting: str
    accuracy: float
    tasks: int
    tries: int
    without: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Choices:
    """One choice for each method and kind of data; by which belief, on which tasks it was made.

    `datasets` are the names by which the rows of those tasks are drawn. None of their tasks is
    ranked, whatever its environment and number of labels: its rows were seen.
    """

    belief: Belief
    tasks: tuple[Task, ...]
    datasets: tuple[str, ...]
    made: tuple[Choice, ...]

    @property
    def sha256(self) -> str:
        return _sha256(asdict(self))

    def write(self, path: str | Path) -> None:
        document = {**asdict(self), "sha256": self.sha256}
        Path(path).write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The choices of a file that `write` wrote; refused if it was altered."""
        try:
            document = json.loads(Path(path).read_text())
            digest = document.pop("sha256")
            made = cls(
                Belief(**document["belief"]),
                tuple(Task(**task) for task in document["tasks"]),
                tuple(document["datasets"]),
                tuple(Choice(**choice) for choice in document["made"]),
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"{path} holds no choices: {error}") from error
        if digest != _sha256(document) or digest != made.sha256:
            raise InputError(f"the choices in {path} were altered: their digest does not fit them")
        return made

    def ranked(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The records of other datasets than those that the choices were made on."""
        return frame[~self._seen(frame)]

    def _seen(self, frame: pd.DataFrame) -> "pd.Series":
        """Which records are of those datasets, by the names of their rows or of their tasks."""
        named = frame.dataset.isin([task.dataset for task in self.tasks])
        return frame.drawn.isin(self.datasets) | named

    def applied(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
        """The records of the chosen configurations, and in words what is lacking; a frame
        with tasks of datasets that the choices were made on is refused.
        """
        seen = sorted(frame[self._seen(frame)].drawn.unique())
        if seen:
            raise InputError(
                f"settings were chosen on {', '.join(seen)}, so tasks of it are never ranked by "
                "these choices: leave them out"
            )
        check_single(frame)
        choices = {(choice.data, choice.method): choice for choice in self.made}
        parts, said = [frame[:0]], []
        for (data, method), mine in frame.groupby(["data", "method"], sort=False):
            choice = choices.get((str(data), str(method)))
            if choice is None:
                said.append(f"{method}: no setting was chosen for it on {data} data")
                continue
            same = mine.configuration == choice.configuration
            parts.append(mine[same & (mine.algorithm == choice.setting)])
            without = mine[PLACE].drop_duplicates().merge(parts[-1][PLACE], "left", indicator=True)
            for _, row in without[without._merge == "left_only"].iterrows():
                said.append(
                    f"{method} on {task_of(row)}: no record of its chosen setting {choice.setting}"
                )
        return pd.concat(parts).sort_index(), said


def choose(frame: pd.DataFrame, belief: Belief = BELIEF) -> Choices:
    """Of each method and kind of data the configuration of the best expected accuracy, in the mean
    over seeds and over the tasks of the frame, the development tasks; the lower number of equals.
    """
    frame, said = candidates(frame)
    _check_settings(frame)
    by_seed = expected(frame, [*_SETTING, *PLACE, "seed"], belief)
    table = by_seed.groupby([*_SETTING, *PLACE]).mean().unstack(PLACE)
    wholes = {}
    for (data, method), mine in table.groupby(level=["data", "method"]):
        mine = mine.droplevel(["data", "method"]).dropna(axis=1, how="all")
        whole = mine.dropna()
        said += [
            f"{method}: configuration {number} lacks a development task and is no candidate"
            for number in mine.index.difference(whole.index)
        ]
        if whole.empty:
            said.append(f"{method}: no configuration has all of its development tasks")
            continue
        wholes[data, method] = whole
    made = []
    for (data, method), whole in wholes.items():
        tries = [len(other) for (kind, _), other in wholes.items() if kind == data]
        least = min((many for many in tries if many > 1), default=1)
        if len(whole) > least:  # its development tasks are not those of all methods
            said.append(f"{method}: {least} of {len(whole)} configurations on {data} data")
            whole = whole[:least]
        same = (frame.data == data) & (frame.method == method)
        specs = frame[same].groupby("configuration").algorithm.first()
        made.append(_choice(str(data), str(method), whole, specs))
    for sentence in said:
        warnings.warn(sentence, stacklevel=2)
    if not made:
        raise InputError("no method has a configuration with records on all development tasks")
    tasks = sorted(Task(*row) for row in frame[PLACE].drop_duplicates().itertuples(index=False))
    return Choices(belief, tuple(tasks), tuple(sorted(frame.drawn.unique())), tuple(made))


def _choice(data: str, method: str, table: pd.DataFrame, specs: "pd.Series") -> Choice:
    """The best row (a configuration) of a table with a column for each development task."""

    def best(part: pd.DataFrame) -> int:
        return int(part.mean(axis=1).round(12).idxmax())  # the first of equals

    chosen = best(table)
    without = {}
    if table.shape[1] > 1:
        names = task_names(Task(e, d, int(n)) for e, d, n in table.columns)
        without = {
            name: best(table.drop(columns=[column]))
            for name, column in zip(names.values(), table.columns, strict=True)
        }
    tries, tasks = table.shape
    mean = float(table.loc[chosen].mean())
    return Choice(data, method, chosen, specs[chosen], mean, tasks, tries, without)


def _check_settings(frame: pd.DataFrame) -> None:
    """Refuses a configuration that is not the same setting on all tasks of a kind of data."""
    settings = frame.groupby(_SETTING).algorithm.unique()
    for (data, method, number), specs in settings[settings.map(len) > 1].items():
        raise InputError(
            f"configuration {number} of {method} is not one setting on {data} data: "
            f"{' and '.join(specs)}"
        )


def _sha256(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
