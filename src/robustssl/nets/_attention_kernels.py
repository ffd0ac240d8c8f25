"""Attention for few tokens in Triton; each program computes one head of one row."""

# mypy: ignore-errors
import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _load(start, tokens, stride, width, TOKENS: tl.constexpr, WIDTH: tl.constexpr):
    """A head's part of the tokens as a (TOKENS, WIDTH) block, with zeros outside."""
    token, place = tl.arange(0, TOKENS)[:, None], tl.arange(0, WIDTH)[None, :]
    inside = (token < tokens) & (place < width)
    return tl.load(start + token * stride + place, mask=inside, other=0.0)


@triton.jit
def _store(start, block, tokens, stride, width, TOKENS: tl.constexpr, WIDTH: tl.constexpr):
    token, place = tl.arange(0, TOKENS)[:, None], tl.arange(0, WIDTH)[None, :]
    inside = (token < tokens) & (place < width)
    tl.store(start + token * stride + place, block.to(start.dtype.element_ty), mask=inside)


@triton.jit
def _weights(q, k, scale, tokens, TOKENS: tl.constexpr, PRECISION: tl.constexpr):
    """The softmax of the scores, (TOKENS, TOKENS), in float32."""
    scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * scale
    scores = tl.where(tl.arange(0, TOKENS)[None, :] < tokens, scores, -float("inf"))
    powers = tl.exp(scores - tl.max(scores, 1)[:, None])
    return powers / tl.sum(powers, 1)[:, None]


@triton.jit
def _forward(
    triples, out, some, tokens, heads, width, scale,
    TOKENS: tl.constexpr, WIDTH: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    row, head = (tl.program_id(0) // heads).to(tl.int64), tl.program_id(0) % heads
    whole = heads * width
    start = triples + row * tokens * 3 * whole + head * width
    q = _load(start, some, 3 * whole, width, TOKENS, WIDTH)
    k = _load(start + whole, tokens, 3 * whole, width, TOKENS, WIDTH)
    v = _load(start + 2 * whole, tokens, 3 * whole, width, TOKENS, WIDTH)
    p = _weights(q, k, scale, tokens, TOKENS, PRECISION)
    o = tl.dot(p.to(v.dtype), v, input_precision=PRECISION)
    _store(out + row * some * whole + head * width, o, some, whole, width, TOKENS, WIDTH)


@triton.jit
def _backward(
    triples, change, of_triples, some, tokens, heads, width, scale,
    TOKENS: tl.constexpr, WIDTH: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Queries that were not used get zeros, since the gradient at them is zero."""
    row, head = (tl.program_id(0) // heads).to(tl.int64), tl.program_id(0) % heads
    whole = heads * width
    place = row * tokens * 3 * whole + head * width
    q = _load(triples + place, some, 3 * whole, width, TOKENS, WIDTH)
    k = _load(triples + place + whole, tokens, 3 * whole, width, TOKENS, WIDTH)
    v = _load(triples + place + 2 * whole, tokens, 3 * whole, width, TOKENS, WIDTH)
    d = _load(change + row * some * whole + head * width, some, whole, width, TOKENS, WIDTH)
    p = _weights(q, k, scale, tokens, TOKENS, PRECISION)
    of_p = tl.dot(d, tl.trans(v), input_precision=PRECISION)
    of_scores = (p * (of_p - tl.sum(p * of_p, 1)[:, None]) * scale).to(q.dtype)
    of_q = tl.dot(of_scores, k, input_precision=PRECISION)
    of_k = tl.dot(tl.trans(of_scores), q, input_precision=PRECISION)
    of_v = tl.dot(tl.trans(p.to(d.dtype)), d, input_precision=PRECISION)
    _store(of_triples + place, of_q, tokens, 3 * whole, width, TOKENS, WIDTH)
    _store(of_triples + place + whole, of_k, tokens, 3 * whole, width, TOKENS, WIDTH)
    _store(of_triples + place + 2 * whole, of_v, tokens, 3 * whole, width, TOKENS, WIDTH)


def _how(triples: Tensor, heads: int, some: int) -> tuple[Any, Any, dict[str, Any]]:
    rows, tokens, whole = triples.shape
    width = whole // 3 // heads
    exact = triples.dtype == torch.float32 and not torch.backends.cuda.matmul.allow_tf32
    blocks = {
        "TOKENS": max(16, triton.next_power_of_2(tokens)),
        "WIDTH": max(16, triton.next_power_of_2(width)),
        "PRECISION": "ieee" if exact else "tf32",
        "num_warps": 1 if tokens <= 16 else 4,
    }
    return (rows * heads,), (some, tokens, heads, width, 1 / math.sqrt(width)), blocks


def forward(triples: Tensor, heads: int, some: int) -> Tensor:
    out = triples.new_empty(len(triples), some, triples.shape[2] // 3)
    grid, sizes, blocks = _how(triples, heads, some)
    _forward[grid](triples, out, *sizes, **blocks)
    return out


def backward(triples: Tensor, change: Tensor, heads: int) -> Tensor:
    result = triples.new_empty(triples.shape)
    grid, sizes, blocks = _how(triples, heads, change.shape[1])
    _backward[grid](triples, change, result, *sizes, **blocks)
    return result
