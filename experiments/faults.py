"""Is a study that is disturbed at random the same, to the last bit, as one that is not?

    python experiments/faults.py --seeds 100

Each seed draws a study, where it is stored, how many runs work on it at once, and 1 to 6 faults:
workers and runs are killed, connections to PostgreSQL are ended, and its server restarts, each when
a drawn number of cells is done. Then the study is run to its end, and its records are compared with
those of an undisturbed run. A line for each seed.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import sqlalchemy as sa
import yaml
from gates import as_a_person, children, is_ours, wait_for, workers
from servers import Server

import robustssl

QUICK = ["self_training", "label_spreading", "supervised_logistic", "ssgmm", "supervised_gaussian"]
NET = "fixmatch[net=mlp,steps=40]"
EVERY = {
    "algorithms": [*QUICK, NET],
    "environments": ["label", "feature"],
    "datasets": ["iris", "wine"],
    "labels": 3,
    "seeds": 4,
}
FAULTS = ["worker", "SIGKILL", "SIGTERM", "SIGINT"]
OF_SERVERS = ["connections", "restart"]


def results(place):
    """The scores and predictions of all successes; a cell may have one only."""
    with robustssl.Store(place, create=False) as store:
        found = [(r.key, (r.scores, r.digest)) for r in store.records() if r.error is None]
        wrong = list(store.problems())
    assert not wrong, wrong
    assert len(dict(found)) == len(found), "a cell has two successes"
    return dict(found)


class Trial:
    """A study that is disturbed, all of it drawn from a seed."""

    def __init__(self, seed, folder, server):
        self.chance, self.folder, self.server = random.Random(seed), folder, server
        self.study = {
            **EVERY,
            "algorithms": [
                *self.chance.sample(QUICK, self.chance.choice([2, 3])),
                *([NET] if self.chance.random() < 0.3 else []),
            ],
            "datasets": self.chance.sample(EVERY["datasets"], 1),
            "environments": self.chance.sample(EVERY["environments"], self.chance.choice([1, 2])),
        }
        self.cells = robustssl.Study(**self.study).cells()
        self.at_once = self.chance.choice([1, 1, 1, 2, 2, 3])
        kinds = [*FAULTS, *(OF_SERVERS * 2 if server else [])]
        goals = [self.chance.randrange(len(self.cells)) for _ in range(self.chance.randint(1, 6))]
        self.faults = [(goal, self.chance.choice(kinds)) for goal in sorted(goals)]
        self.place, self.runs = self._place(seed), []
        self.file = folder / "study.yaml"
        self.file.write_text(yaml.safe_dump(self.study))
        self.seen = set()

    def _place(self, seed):
        if self.server is None:
            return str(self.folder / "s.sqlite")
        with self.database() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE s{seed}")
        return self.server.url.set(database=f"s{seed}").render_as_string(hide_password=False)

    def database(self):
        engine = sa.create_engine(
            self.server.url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool
        )
        return engine.connect()

    def start(self, at_once=None):
        """Start as many runs as shall be at work."""
        program = [sys.executable, "-m", "robustssl", "run", self.file, "--store", self.place]
        while len(self.runs) < (at_once or self.at_once):
            output = (self.folder / "output").open("a")
            command = [*map(str, program), "--retry", "-w", str(self.chance.choice([1, 1, 2]))]
            self.runs.append(
                subprocess.Popen(
                    command,
                    stdout=output,
                    stderr=output,
                    cwd=self.folder,
                    start_new_session=True,
                    preexec_fn=as_a_person,
                )
            )

    def done(self):
        """How many cells are done, 0 where the store does not say."""
        for run in self.runs:
            self.seen |= {*filter(is_ours, children(run.pid)), *workers(run.pid)}
        self.runs = [run for run in self.runs if run.poll() is None]
        try:
            with robustssl.Store(self.place, create=False) as store:
                return len(store.done())
        except robustssl.InputError:
            return 0

    def disturb(self):
        for goal, kind in self.faults:
            while (count := self.done()) < goal:
                if not self.runs:
                    self.start()
                time.sleep(0.2)
            if count < len(self.cells) and not self.runs:
                self.start()
            self.strike(kind)

    def strike(self, kind):
        if kind == "restart":
            self.server.stop()
            time.sleep(3 * self.chance.random())
            self.server.start()
        elif kind == "connections":
            name = sa.make_url(self.place).database
            with self.database() as connection:
                connection.exec_driver_sql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    f"WHERE datname = '{name}'"
                )
        elif self.runs:
            struck = self.chance.choice(self.runs).pid
            at_work = workers(struck)
            with suppress(ProcessLookupError):  # it has just ended
                if kind != "worker":
                    os.kill(struck, getattr(signal, kind))
                elif at_work:
                    os.kill(self.chance.choice(at_work), signal.SIGKILL)

    def finish(self):
        """Let the runs end, and run what they left; then nothing of them is left."""
        for run in self.runs:
            run.wait()
        for _ in range(3):
            if self.done() == len(self.cells):
                break
            self.start(1)
            self.runs[0].wait()
        wait_for(lambda: not any(map(is_ours, self.seen)))

    def wrong(self, expected):
        """What differs from an undisturbed run, in words."""
        keys = {robustssl.registry.key(cell) for cell in self.cells}
        found = results(self.place)
        if found.keys() != keys:
            return f"{len(keys - found.keys())} cells are missing"
        other = [key for key in keys if found[key] != expected[key]]
        left = [str(path.name) for path in self.folder.rglob("*.part")]
        return " and ".join(
            [
                *([f"{len(other)} cells differ"] if other else []),
                *(f"{name} is left" for name in left),
            ]
        )


def tried(seed, kind, server, undisturbed):
    """The line of a seed, and whether all went well; the store of undisturbed runs grows."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        trial = Trial(seed, Path(folder), server if kind == "postgresql" else None)
        try:
            trial.start()
            trial.disturb()
            trial.finish()
            robustssl.run(trial.study, undisturbed, progress=False)
            wrong = trial.wrong(results(undisturbed))
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        finally:
            for run in trial.runs:
                with suppress(ProcessLookupError):
                    run.kill()
                    run.wait()
        said = (Path(folder) / "output").read_text() if wrong else ""
    faults = " ".join(f"{kind}@{goal}" for goal, kind in trial.faults)
    line = (
        f"seed {seed} {kind}, {len(trial.cells)} cells, {trial.at_once} at once, {faults}: "
        f"{wrong or 'equal'}, {time.monotonic() - begin:.0f} s"
    )
    return f"{line}\n{said}".strip(), not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--first", type=int, default=0, help="The first seed.")
    parser.add_argument("--seeds", type=int, default=10, help="How many seeds.")
    parser.add_argument("--store", choices=["sqlite", "postgresql"], help="Both by default.")
    asked = parser.parse_args()
    good = 0
    with ExitStack() as stack:
        server = stack.enter_context(Server()) if asked.store != "sqlite" else None
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for seed in range(asked.first, asked.first + asked.seeds):
            kind = asked.store or ("sqlite", "postgresql")[seed % 2]
            line, well = tried(seed, kind, server, folder / "s.sqlite")
            print(line, flush=True)
            good += well
    print(f"{good} of {asked.seeds} equal")
    sys.exit(good != asked.seeds)


if __name__ == "__main__":
    main()
