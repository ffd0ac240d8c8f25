"""What the benchmarks of encoders and of heads share: results as lines of JSON, seconds, memory."""

import argparse
import json
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch


def main(about: str, parts: Mapping[str, Callable[[Any, "Lines"], None]], **options: Any) -> None:
    """Run the parts that the command line names; `options` are more options of it, and what
    argparse is told of each.
    """
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)}; all unless named")
    parser.add_argument("--small", action="store_true", help="tiny numbers, to try the script")
    parser.add_argument("--out", type=Path, help="append every result to this file (jsonl)")
    for name, told in options.items():
        parser.add_argument(f"--{name}", **told)
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(parts):
        parser.error(f"no part is called {min(unknown)}; there are {', '.join(parts)}")
    lines = Lines(asked.out)
    for name in asked.parts or parts:
        lines.attempt(name, parts[name], asked, lines)


class Lines:
    """Results, printed and written to a file at once, so that a killed run keeps what it has."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        on_gpu = torch.cuda.is_available()
        self.device = torch.cuda.get_device_name() if on_gpu else "CPU"

    def add(self, part: str, **result: Any) -> None:
        line = json.dumps({"part": part, **result, "device": self.device})
        print(line, flush=True)
        if self.file is not None:
            with self.file.open("a") as opened:
                opened.write(line + "\n")

    def attempt(self, part: str, work: Callable[..., None], *arguments: Any) -> None:
        """Do some work; its failure is a result too, and does not stop the others."""
        try:
            work(*arguments)
        except Exception as error:
            traceback.print_exc()
            words = [str(a) for a in arguments if isinstance(a, str | int | float)]
            told = f"{type(error).__name__}: {error}"
            self.add(part, failed=told[:300], at=" ".join(words))


class Timed:
    """The seconds that a block took, until the GPU was done, and the GPU's peak memory in it."""

    def __enter__(self) -> "Timed":
        if torch.cuda.is_available():
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
        self.start = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        memory = 0
        if torch.cuda.is_available():
            torch.cuda.synchronize()
            memory = torch.cuda.max_memory_allocated()
        self.seconds = round(time.perf_counter() - self.start, 3)
        self.gib = round(memory / 2**30, 2)
