"""Gates: fits wait at them, so that a test, and not a clock, decides how far a run comes. And what
tests ask of processes.
"""

import ctypes
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

EVERYTHING = bool(os.environ.get("TEST_EVERYTHING"))  # whether long trainings are tested, too
LONG = 600  # seconds after which a test is taken to hang
MANY = 1000  # fits, more than any test has


def wait_for(condition):
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "waited ten minutes for what did not happen"
        time.sleep(0.01)


def stat(pid):
    """The state of a process and its parent, or None where it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[1])


def alive(pid):
    """Running, not merely a child that nobody has waited for yet."""
    found = stat(pid)
    return found is not None and found[0] != "Z"


def processes():
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def children(pid):
    return [child for child in processes() if (found := stat(child)) and found[1] == pid]


def workers(pid):
    """The processes that work for a run: copies of the one that serves them."""
    servers = filter(is_ours, children(pid))
    return [worker for server in servers for worker in children(server) if alive(worker)]


def is_ours(pid):
    """Alive, and a worker or the process that workers are copies of."""
    with suppress(OSError):  # it has just ended
        return alive(pid) and b"forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def as_a_person():
    """Ctrl-C is heard, unlike by a job in the background, and a file that may not be written is
    not, unlike by root.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.getuid() == 0:
        drop, dac_override = 24, 1
        ctypes.CDLL(None).prctl(drop, dac_override, 0, 0, 0)


class Gate:
    """A named pipe; a fit that arrives takes a byte from it, or waits for one."""

    def __init__(self, folder):
        self.path = Path(folder) / "gate"
        os.mkfifo(self.path)
        self.pipe = os.open(self.path, os.O_RDWR)
        self.learner = f"doomed:Gated[gate={self.path}]"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.pipe)

    def let(self, fits):
        os.write(self.pipe, bytes(fits))

    def shut(self):
        """Let no more fits through than have come."""
        os.set_blocking(self.pipe, False)
        with suppress(BlockingIOError):
            os.read(self.pipe, 2**16)
        os.set_blocking(self.pipe, True)

    def arrived(self):
        """The processes of the fits that have come to the gate, through it or not."""
        path = _arrivals(self.path)
        return [*map(int, path.read_text().split())] if path.exists() else []


def pass_gate(gate):
    """What a fit does that a test wants to hold up."""
    with _arrivals(gate).open("a") as arrivals:
        arrivals.write(f"{os.getpid()}\n")
    with Path(gate).open("rb", buffering=0) as pipe:
        pipe.read(1)


def _arrivals(gate):
    return Path(f"{gate}.arrivals")
