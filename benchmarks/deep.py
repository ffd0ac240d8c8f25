"""How long a step of a stack takes: algorithms x heights x modes x precisions, on any device.

    python benchmarks/deep.py --net ft_transformer --algorithms fixmatch vat --heights 1 30

Prints, for every combination, the start-up (compiling included), milliseconds a step and a model,
peak memory, the share of the device's own matrix rate, and how far the first gradient of a model is
from that of float64. (Later ones say little: training is chaotic, and float32 itself is far from
float64 after fifty steps.)
"""

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from robustssl import registry
from robustssl.deep.inputs import Problem
from robustssl.deep.stack import Stack
from robustssl.deep.train import take_steps
from robustssl.spec import parse
from robustssl.views import views_of

CLASSES, LABELED, UNLABELED = 3, 15, 1000
KINDS = {"wide_resnet": "image", "resnet50": "image"}


def problems(kind, height, seed=0):
    """Models that see their own rows: clusters in 13 features, or noise of 32x32 pixels."""
    found = []
    for m in range(height):
        rng = np.random.default_rng([seed, m])
        y = np.arange(LABELED + UNLABELED) % CLASSES
        if kind == "image":
            X = rng.integers(0, 256, (len(y), 32, 32, 3), dtype=np.uint8)
        else:
            X = rng.normal(size=(CLASSES, 13))[y] + rng.normal(size=(len(y), 13))
            X = X.astype(np.float32)
        found.append(Problem(X[:LABELED], y[:LABELED], X[LABELED:], m))
    return found


def stack_of(name, net, height, precision, steps, device, batch):
    kind = KINDS.get(parse(net)[0], "table")
    model = registry.estimator(
        name, budget="full", net=net, steps=steps, precision=precision, device=device, batch=batch
    )
    rows = problems(kind, height)
    if precision == "fp64" and kind == "table":
        rows = [
            type(p)(p.X.astype(float), p.codes, p.unlabeled.astype(float), p.seed) for p in rows
        ]
    shape = rows[0].X.shape[1:]
    views = views_of(shape, model.weak, getattr(model, "strong", 0.0))
    return Stack(model, lambda: registry.net(net)(shape, CLASSES), views, rows)


def matrix_rate(device, precision):
    """Multiplications and additions a second of a large product in this precision."""
    dtype = {"bf16": torch.bfloat16, "fp64": torch.float64}.get(precision, torch.float32)
    torch.backends.cuda.matmul.allow_tf32 = precision != "fp32"
    size, times = (8192, 10) if device == "cuda" else (1024, 5)
    a = torch.randn(size, size, device=device, dtype=dtype)
    b = torch.randn(size, size, device=device, dtype=dtype)
    for _ in range(3):
        a @ b
    _wait(device)
    start = time.perf_counter()
    for _ in range(times):
        a @ b
    _wait(device)
    return 2 * size**3 * times / (time.perf_counter() - start)


def _wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def measure(name, net, height, mode, precision, device, batch, steps, rates, exact_gradients):
    flops = FlopCounterMode(display=False)
    probe = stack_of(name, net, height, precision, 2, device, batch)
    probe.batches.put(probe.batches.draw())
    with flops:
        probe.step()
    del probe
    if (name, net) not in exact_gradients:
        exact = stack_of(name, net, 1, "fp64", steps, device, batch)
        exact.batches.put(exact.batches.draw())
        exact.step()
        exact_gradients[name, net] = exact.moments[0][0].cpu()
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    stack = stack_of(name, net, height, precision, steps, device, batch)
    batches, start = stack.batches, time.perf_counter()
    advance = take_steps(stack, mode)
    batches.put(batches.draw())
    next(advance)  # its gradient is that of float64, but for rounding
    ours, exact = stack.moments[0][0].double().cpu(), exact_gradients[name, net]
    error = float((ours - exact).norm() / exact.norm())
    for _ in range(batches.chunk - 1):
        next(advance)
    _wait(device)
    started = time.perf_counter() - start
    start, done, drawn = time.perf_counter(), 0, batches.draw()
    while done < steps:
        batches.put(drawn)
        for _ in range(batches.chunk):
            next(advance)
        done, drawn = done + batches.chunk, batches.draw()
    _wait(device)
    per_step = (time.perf_counter() - start) / done * 1e3
    memory = (
        torch.cuda.max_memory_allocated() / 2**30
        if device == "cuda"
        else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    )
    rates.setdefault(precision, matrix_rate(device, precision))
    return {
        "algorithm": name,
        "net": net,
        "height": height,
        "mode": mode,
        "precision": precision,
        "start_s": round(started - batches.chunk * per_step / 1e3, 1),
        "ms_step": round(per_step, 2),
        "ms_step_model": round(per_step / height, 3),
        "memory_GiB": round(memory, 2),
        "matrix_rate_%": round(
            100 * flops.get_total_flops() / (per_step / 1e3) / rates[precision], 1
        ),
        "error": f"{error:.1e}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--net", default="ft_transformer")
    parser.add_argument("--algorithms", nargs="+", default=["fixmatch"])
    parser.add_argument("--heights", nargs="+", type=int, default=[1, 6, 18, 30])
    parser.add_argument("--modes", nargs="+", default=["eager"])
    parser.add_argument("--precisions", nargs="+", default=["fp32"])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--out", type=Path, help="Append every row to this file (jsonl).")
    asked = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rates, exact_gradients = {}, {}
    print(torch.cuda.get_device_name() if device == "cuda" else "CPU", torch.__version__)
    for name in asked.algorithms:
        for precision in asked.precisions:
            for mode in asked.modes:
                for height in asked.heights:
                    torch.compiler.reset()
                    row = measure(
                        *(name, asked.net, height, mode, precision, device),
                        *(asked.batch, asked.steps, rates, exact_gradients),
                    )
                    print(json.dumps(row), flush=True)
                    if asked.out:
                        with asked.out.open("a") as file:
                            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
