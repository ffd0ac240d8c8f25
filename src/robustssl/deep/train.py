"""The training loop of a stack: eager, replayed from a CUDA graph, or compiled."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import torch

from robustssl.deep.batches import BLOCK
from robustssl.deep.checkpoints import load, save
from robustssl.deep.device import threads
from robustssl.deep.stack import Stack

Mode = Literal["eager", "graph", "compile"]

# The number of steps from which compiling, about a minute, saves more time than it takes.
COMPILE_PAYS = {"stacked": 5_000, "alone": 15_000}
CHECKPOINT_SECONDS = 60.0
MANY = 2**21  # parameters of a stack; with fewer, one thread is faster than several
OFTEN = 10  # steps after which it is told how many are done
WARM_UP = 3  # steps before a graph is captured


def train(
    stack: Stack,
    taken: Iterator[None] | None = None,
    checkpoint: Path | None = None,
    tell: Callable[[float], None] = lambda share: None,
) -> None:
    """Take all steps, from the checkpoint on if there is one; `taken` takes them, and `tell` is
    called with the share of the steps that is done, at the start and then after some of them.
    """
    with threads(1 if stack.params.numel() < MANY else torch.get_num_threads()):
        _train(stack, taken or take_steps(stack), checkpoint, tell)


def _train(
    stack: Stack, taken: Iterator[None], checkpoint: Path | None, tell: Callable[[float], None]
) -> None:
    if checkpoint is not None and checkpoint.exists():
        load(stack, checkpoint)
    tell(stack.done / stack.steps)
    saved, drawn = time.monotonic(), stack.batches.draw()
    while stack.done < stack.steps:
        stack.batches.put(drawn)
        end = min(stack.done + stack.batches.chunk, stack.steps)
        while stack.done < end:
            stack.prepare()
            next(taken)
            stack.done += 1
            if stack.done % OFTEN == 0 and stack.done < end:
                tell(stack.done / stack.steps)
        due = time.monotonic() - saved > CHECKPOINT_SECONDS and stack.done % BLOCK == 0
        if checkpoint is not None and due:
            save(stack, checkpoint)
            saved = time.monotonic()
        drawn = stack.batches.draw()  # while the device computes
        tell(stack.done / stack.steps)


def _best_mode(stack: Stack) -> Mode:
    if stack.device.type != "cuda":
        return "eager"
    stacks = getattr(stack.net.module, "stacks", True)
    pays = COMPILE_PAYS["stacked" if stacks else "alone"]
    return "compile" if stack.model.steps >= pays else "graph"


def take_steps(stack: Stack, mode: Mode | None = None) -> Iterator[None]:
    """Take one step for every item that is asked for. A graph is captured after some eager steps,
    which count like all others, and again in every stage. It also takes the steps of what the stack
    becomes.
    """
    step, mode = stack.step, mode or _best_mode(stack)
    if mode == "compile":
        torch.compiler.reset()  # functions compiled for other stacks count against a limit
        parts = (torch.compile(part, dynamic=False) for part in (stack.forward, stack.update))
        step = partial(stack.step, *parts)
    if mode == "eager" or stack.device.type != "cuda":
        while True:
            step()
            yield
    stream = torch.cuda.Stream()
    while True:
        stage = stack.stage
        for _ in range(WARM_UP):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                step()
            torch.cuda.current_stream().wait_stream(stream)
            yield
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        while stack.stage == stage:
            graph.replay()
            yield
