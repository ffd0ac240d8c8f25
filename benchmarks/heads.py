"""How long perceptrons on the vectors of an encoder take, alone and where processes share a GPU.

    PYTHONPATH=src python benchmarks/heads.py curves --out heads.jsonl
    PYTHONPATH=src python benchmarks/heads.py sharing --processes 1 6 12 --mps --out heads.jsonl

Parts: `curves`, the seconds and the accuracy of 12 models (t = 0, .5, 1 and four seeds) on CIFAR-10
by ResNet-50, 4 labels of each class; `sharing`, the heads an hour of several processes on made-up
vectors in banks of the usual size: 10,000 unlabeled rows, 13 versions, 256 numbers. `--mps` uses
the multi-process service of CUDA.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import product
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from _lines import Lines, Timed, main
from torch import multiprocessing

from robustssl import registry
from robustssl.data import UNLABELED, ViewedRows
from robustssl.splits import prepare

METHODS = [
    *("supervised_net", "pseudo_label", "mean_teacher", "mixmatch", "uda", "fixmatch", "flexmatch"),
    *("freematch", "softmatch", "adamatch", "openmatch", "iomatch", "uasd", "mtcf"),
]
WEAK, STRONG, WIDTH, CLASSES = 4, 8, 256, 6  # of made-up vectors


def models(name: str, seeds: list[int], steps: int) -> list[Any]:
    ratio = {} if name.startswith("supervised") else {"ratio": 3}
    options = {"net": "mlp[width=256]", "steps": steps, **ratio}
    return [registry.estimator(name, **options, random_state=seed) for seed in seeds]


def curves(asked: Any, lines: Lines) -> None:
    small = asked.small
    rows, unlabeled, seeds = (400, 40, [0, 1]) if small else (24_000, 5000, [0, 1, 2, 3])
    encoder = "resnet50[size=32,strong=2,weak=2]" if small else "resnet50"
    splits = []
    with Timed() as timed:
        for seed, t in product(seeds, (0.0, 0.5, 1.0)):
            dataset = f"cifar10[encoder={encoder},rows={rows}]"
            task = prepare(dataset, f"label[unlabeled={unlabeled}]", 4, seed)
            splits.append((seed, task.split(t, views=True)))
    lines.add("curves", what="encoding and splits", seconds=timed.seconds)
    steps = 20 if small else 2000
    for name in asked.methods or METHODS:
        lines.attempt("curves", _curve, lines, splits, name, steps)


def _curve(lines: Lines, splits: Any, name: str, steps: int) -> None:
    fitted = models(name, [seed for seed, _ in splits], steps)
    with Timed() as timed:
        errors = fitted[0].fit_together(fitted, [(split.X, split.y) for _, split in splits])
    if any(errors):
        raise next(error for error in errors if error)
    pairs = zip(fitted, splits, strict=True)
    scores = np.array([model.score(s.X_test, s.y_test) for model, (_, s) in pairs]).reshape(-1, 3)
    accuracy = dict(zip(("0", "0.5", "1"), scores.mean(0).round(4).tolist(), strict=True))
    lines.add(
        *("curves",),
        method=name,
        models=len(fitted),
        steps=steps,
        accuracy=accuracy,
        seconds=timed.seconds,
        GiB=timed.gib,
    )


def problems(height: int, unlabeled: int) -> list[tuple[ViewedRows, Any]]:
    """Rows of six t and as many seeds as the height has; a bank for each seed."""
    ts = np.linspace(0, 1, 6 if height % 6 == 0 else 3)
    found = []
    for seed in range(height // len(ts)):
        rng = np.random.default_rng(seed)
        y = np.arange(4 * CLASSES + 2 * unlabeled) % CLASSES
        centres = rng.normal(size=(CLASSES, 1, WIDTH)).astype(np.float16)
        bank = rng.standard_normal((len(y), 1 + WEAK + STRONG, WIDTH), np.float32)
        bank = bank.astype(np.float16) + centres[y]
        for t in ts:
            first = 4 * CLASSES + round(t * unlabeled)
            index = np.concatenate([np.arange(4 * CLASSES), np.arange(first, first + unlabeled)])
            codes = np.where(np.arange(len(index)) < 4 * CLASSES, y[index], UNLABELED)
            found.append((ViewedRows(bank, index, WEAK, STRONG), codes))
    return found


def sharing(asked: Any, lines: Lines) -> None:
    with _multi_process_service() if asked.mps else nullcontext():
        for count, height, name in product(asked.processes, (30, 9), ("fixmatch", "mixmatch")):
            lines.attempt("sharing", _share, lines, asked, count, height, name)


def _share(lines: Lines, asked: Any, count: int, height: int, name: str) -> None:
    unlabeled, steps = (100, 10) if asked.small else (10_000, 2000)
    context = multiprocessing.get_context("spawn")
    gate, ended = context.Barrier(count, timeout=300), context.Queue()
    job = (name, height, unlabeled, steps, asked.repetitions, gate, ended)
    processes = [context.Process(target=_work, args=job) for _ in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError(
            f"{sum(bool(p.exitcode) for p in processes)} of {count} processes failed"
        )
    starts, ends, used, own = zip(*(ended.get() for _ in processes), strict=True)
    heads, seconds = count * height * asked.repetitions, max(ends) - min(starts)
    lines.add(
        "sharing",
        method=name,
        processes=count,
        service=asked.mps,
        height=height,
        unlabeled=unlabeled,
        steps=steps,
        seconds=round(seconds, 2),
        heads_hour=round(heads / seconds * 3600),
        GiB_of_the_GPU=round(max(used) / 2**30, 2),
        GiB_of_a_process=round(max(own) / 2**30, 2),
    )


def _work(
    name: str, height: int, unlabeled: int, steps: int, repetitions: int, gate: Any, ended: Any
) -> None:
    """Fit once to start the GPU; when all processes have, fit again and again."""
    torch.set_num_threads(1)
    rows, on_gpu = problems(height, unlabeled), torch.cuda.is_available()
    test = np.asarray(rows[0][0])[:2000]
    try:
        for repetition in range(1 + repetitions):
            if repetition == 1:
                gate.wait()
                start = time.time()
            fitted = models(name, list(range(height)), steps if repetition else 10)
            errors = fitted[0].fit_together(fitted, rows)
            assert not any(errors), errors
            for model in fitted:
                model.predict(test)
        end = time.time()
    except BaseException:
        gate.abort()
        raise
    free, total = torch.cuda.mem_get_info() if on_gpu else (0, 0)
    ended.put((start, end, total - free, torch.cuda.max_memory_allocated() if on_gpu else 0))
    gate.wait()  # all hold their memory while it is counted


@contextmanager
def _multi_process_service() -> Iterator[None]:
    command = "nvidia-cuda-mps-control"
    if shutil.which(command) is None:
        raise RuntimeError(f"there is no {command}")
    with TemporaryDirectory() as folder:
        places = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        os.environ |= places
        try:
            subprocess.run([command, "-d"], check=True)
            yield
            subprocess.run([command], input="quit\n", text=True, check=True)
        finally:
            for name in places:
                del os.environ[name]


if __name__ == "__main__":
    main(
        __doc__,
        {"curves": curves, "sharing": sharing},
        methods={"nargs": "+", "help": "of the part curves"},
        processes={"nargs": "+", "type": int, "default": [1, 6, 12]},
        repetitions={"type": int, "default": 3, "help": "fits of a stack by each process"},
        mps={"action": "store_true", "help": "of `sharing`: use the multi-process service"},
    )
