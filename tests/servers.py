"""A PostgreSQL server of one's own, which may be stopped and started."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import sqlalchemy as sa


def programs():
    """The folder of PostgreSQL's programs, None where there is none."""
    known = [shutil.which("pg_ctl"), *map(str, Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))]
    found = next(filter(None, known), None)
    return found and Path(found).resolve().parent


class Server:
    """In a folder of its own, for as long as the context lasts."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        self.user = None
        if os.getuid() == 0:  # which a server refuses to be
            users = {entry.pw_name for entry in pwd.getpwall()}
            self.user = next(name for name in ("postgres", "nobody") if name in users)
            shutil.chown(self.folder, self.user)
        self._call("initdb", "-U", "tester", "--auth=trust", "--no-sync")
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder)

    @property
    def url(self):
        where = {"database": "postgres", "query": {"host": str(self.folder)}}
        return sa.URL.create("postgresql+psycopg", "tester", "secret", **where)

    def start(self):
        options = f"-c listen_addresses='' -c fsync=off -k {self.folder}"
        self._call("pg_ctl", "-o", options, "-l", self.folder / "log", "-w", "start")

    def stop(self):
        self._call("pg_ctl", "-m", "immediate", "stop")

    def _call(self, program, *words):
        command = [programs() / program, "-D", self.folder / "data", *words]
        subprocess.run(command, check=True, capture_output=True, user=self.user, cwd=self.folder)
