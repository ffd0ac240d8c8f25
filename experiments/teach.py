"""Teach the learner caution: train its net on synthetic worlds, and write its weights.

    python experiments/teach.py 0 taught.safetensors --seconds 1500

takes a GPU. The first argument is the seed of worlds and weights. `--careless` makes every
unlabeled row consistent, for comparison.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from taught_net import BINS, CLASSES, Answer, TaughtNet
from taught_simple import simple_answers
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
from worlds import SHIFTS, Maker, Worlds, draw_sizes

TOKENS, RATE, WARM = 60_000, 1e-3, 1000


def losses(answer: Answer, w: Worlds, unlabeled: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The losses of the queries' classes, of the unlabeled rows' classes, of the answers which rows
    are inconsistent, and of t.
    """
    logits = answer.classes.float().masked_fill(~w.known[:, None], -1e4)
    each = cross_entropy(logits.flatten(0, 1), w.truth.flatten(), ignore_index=-1, reduction="none")
    each, right = each.view_as(w.truth), w.truth >= 0
    queries = each[:, unlabeled:].sum() / right[:, unlabeled:].sum().clamp(min=1)
    free = each[:, :unlabeled].sum() / right[:, :unlabeled].sum().clamp(min=1)
    by_row = (w.shift != list(SHIFTS).index("columns"))[:, None].expand_as(w.inconsistent)
    rows = binary_cross_entropy_with_logits(
        answer.rows.float(), w.inconsistent.float(), weight=by_row.float()
    )
    bins = torch.round(w.t * (BINS - 1)).long()
    t = cross_entropy(answer.t.float(), bins) if unlabeled else queries.new_zeros(())
    return queries, free, rows, t


def teach(net: TaughtNet, maker: Maker, seconds: float, out: Path) -> None:
    """Train for so many seconds, and write the weights now and then, and in the end. The net
    computes in 16 bits, and its weights are kept in 32.
    """
    seed = maker.g.initial_seed()
    rng = np.random.default_rng(seed + 1)
    masters = [p.detach().clone().requires_grad_() for p in net.parameters()]
    groups = [
        {"params": [p for p in masters if p.ndim > 1], "weight_decay": 0.05},
        {"params": [p for p in masters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, RATE, betas=(0.9, 0.98), fused=maker.device == "cuda")
    net.bfloat16()
    params = list(net.parameters())
    start, step, seen, count = time.time(), 0, [], 0
    while (passed := (time.time() - start) / seconds) < 1:
        rate = RATE * min(1, (step + 1) / WARM) * (0.5 + 0.5 * math.cos(math.pi * passed)) + 1e-5
        for group in optimizer.param_groups:
            group["lr"] = rate
        sizes = draw_sizes(rng, TOKENS)
        with torch.no_grad():
            w = maker.batch(sizes)
            rows = torch.asinh(w.x.nan_to_num())
            answers = simple_answers(rows, w.y, sizes.unlabeled, CLASSES)
        parts = losses(net(w.x, w.y, sizes.unlabeled, answers), w, sizes.unlabeled)
        queries, free, rows, t = parts
        (queries + 0.5 * free + 0.3 * rows + 0.1 * t).backward()
        for master, p in zip(masters, params, strict=True):
            master.grad = torch.zeros_like(master) if p.grad is None else p.grad.float()
            p.grad = None
        torch.nn.utils.clip_grad_norm_(masters, 1.0)
        optimizer.step()
        with torch.no_grad():
            torch._foreach_copy_(params, masters)
        step, count = step + 1, count + sizes.worlds
        seen.append(torch.stack([part.detach() for part in parts]))
        if step in (10, 100) or step % 1000 == 0:
            means = torch.stack(seen[-1000:]).mean(0).tolist()
            words = " ".join(f"{mean:.3f}" for mean in means)
            print(f"{time.time() - start:.0f} s, step {step}, {count} worlds: {words}", flush=True)
            seen = seen[-1000:]
            save(
                net, masters, out, {"seed": maker.g.initial_seed(), "steps": step, "worlds": count}
            )
    save(net, masters, out, {"seed": maker.g.initial_seed(), "steps": step, "worlds": count})


def save(net: TaughtNet, masters: list[Tensor], out: Path, card: dict[str, int]) -> None:
    names = [name for name, _ in net.named_parameters()]
    tensors = {n: p.detach().half().cpu() for n, p in zip(names, masters, strict=True)}
    save_file(tensors, out, {"card": json.dumps(card)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=1500)
    parser.add_argument("--careless", action="store_true")
    parser.add_argument("--worlds", nargs="*", default=[], help="Geometries; all by default.")
    asked = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(asked.seed)
    torch.backends.cuda.enable_cudnn_sdp(False)  # it is compiled anew for every number of rows
    net = TaughtNet().to(device)
    maker = Maker(asked.seed, device, not asked.careless, tuple(asked.worlds))
    teach(net, maker, asked.seconds, asked.out)
