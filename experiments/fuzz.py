"""Search for files that reading does not answer with a value or a sentence.

    python experiments/fuzz.py TARGET SECONDS

needs atheris, which follows the branches of our code. What it finds worth keeping goes into
tests/data/fuzz/TARGET; an input that breaks the rule is written beside this call as crash-*, and
belongs there too once it is mended. The tests read all of these again.
"""

import sys
from pathlib import Path

import atheris

sys.path.append(str(Path(__file__).parents[1] / "tests"))

with atheris.instrument_imports(include=["robustssl", "yaml", "skops"]):
    from fuzz_targets import attempt


def main() -> None:
    target, seconds = sys.argv[1:]
    corpus = Path(__file__).parents[1] / "tests" / "data" / "fuzz" / target
    options = [f"-max_total_time={seconds}", "-max_len=4096", "-timeout=60", "-rss_limit_mb=4096"]
    atheris.Setup([sys.argv[0], str(corpus), *options], lambda data: attempt(target, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
