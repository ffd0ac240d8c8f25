"""A whole deep curve, all t and all seeds, trained at once; needs torch, numpy and scikit-learn.

    python examples/whole_curve_on_one_gpu.py --out curve.jsonl
    robustssl import curve.jsonl        # later, on a machine that has the rest

Without a GPU it runs on the processor, where `--budget quick` is the one to take.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))  # where robustssl is not installed

from robustssl import registry
from robustssl.analysis.metrics import GRID
from robustssl.cell import Cell
from robustssl.errors import InputError
from robustssl.execution.worker import run_group
from robustssl.spec import parse, spell

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--algorithm", default="fixmatch")
parser.add_argument("--environment", default="label")
parser.add_argument("--dataset", default="wine")
parser.add_argument("--labels", type=int, default=5, help="Of each class.")
parser.add_argument("--seeds", type=int, default=5, choices=range(1, 1001), metavar="N")
parser.add_argument("--budget", default="full", help="quick, reference or full.")
parser.add_argument("--precision", default="auto", help="auto, fp64, fp32, tf32 or bf16.")
parser.add_argument("--out", type=Path, default=Path("curve.jsonl"))
asked = parser.parse_args()


def main() -> None:
    name, options = parse(asked.algorithm)
    if not hasattr(registry.algorithm(name), "fit_together"):
        raise InputError(f"{name} is no deep algorithm; `robustssl run` takes any")
    spec = spell(name, {**options, "precision": asked.precision})
    name, params = parse(registry.canonical("algorithm", spec, asked.budget))
    registry.environment(asked.environment), registry.dataset(asked.dataset)
    where = (name, asked.environment, asked.dataset, asked.labels)
    chosen = tuple(sorted(params.items()))
    cells = [Cell(*where, t, seed, chosen) for seed in range(asked.seeds) for t in GRID]
    print(f"{len(cells)} models of {spell(name, params)}", flush=True)
    start = time.perf_counter()
    records = run_group(tuple(cells), checkpoints=asked.out.with_suffix(".checkpoints"))
    asked.out.write_text("".join(record.to_json() + "\n" for record in records))
    for t in GRID:
        scores = [r.scores["accuracy"] for r in records if r.cell.t == t and r.error is None]
        if scores:
            print(f"t = {t:.1f}: accuracy {sum(scores) / len(scores):.3f} over {len(scores)} seeds")
    for reason in sorted({r.error for r in records if r.error is not None}):
        print("failed:", reason)
    print(f"{time.perf_counter() - start:.1f} s; {len(records)} records in {asked.out}")


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(str(error))
