"""Attention for few tokens: softmax(q k' / sqrt(width)) v for each head.

A row of a table has about a dozen tokens, and such small products leave a GPU mostly idle. So
there, one program computes a whole head of a row, forwards and backwards, in registers. Everywhere
else it is two matrix products.
"""

import math
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

MOST_TOKENS = 64  # as many as fit into the registers of a program
HAS_TRITON = find_spec("triton") is not None


def attention(triples: Tensor, heads: int, some: int, fused: bool = True) -> Tensor:
    """Attention from the first `some` tokens to all: (rows, some, width), from the queries, keys
    and values of all tokens, (rows, tokens, 3 width).
    """
    fits = triples.is_cuda and triples.shape[1] <= MOST_TOKENS and triples.dtype != torch.float64
    if fits and fused and HAS_TRITON:
        result: Tensor = fused_attention(triples, heads, some)
        return result
    return plain_attention(triples, heads, some)


def plain_attention(triples: Tensor, heads: int, some: int) -> Tensor:
    q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in triples.chunk(3, dim=-1))
    scores = q[:, :, :some] @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


@torch.library.custom_op("robustssl::attention", mutates_args=())
def fused_attention(triples: Tensor, heads: int, some: int) -> Tensor:
    from robustssl.nets import _attention_kernels as kernels

    return kernels.forward(triples.contiguous(), heads, some)


@torch.library.custom_op("robustssl::attention_backward", mutates_args=())
def _backward(triples: Tensor, change: Tensor, heads: int) -> Tensor:
    from robustssl.nets import _attention_kernels as kernels

    return kernels.backward(triples.contiguous(), change.contiguous(), heads)


@fused_attention.register_fake
def _(triples: Tensor, heads: int, some: int) -> Tensor:
    return triples.new_empty(len(triples), some, triples.shape[2] // 3)


@_backward.register_fake
def _(triples: Tensor, change: Tensor, heads: int) -> Tensor:
    return triples.new_empty(triples.shape)


def _keep(ctx: Any, inputs: Any, output: Tensor) -> None:
    triples, ctx.heads, _ = inputs
    ctx.save_for_backward(triples)


def _pull(ctx: Any, change: Tensor) -> Any:
    return _backward(*ctx.saved_tensors, change, ctx.heads), None, None


fused_attention.register_autograd(_pull, setup_context=_keep)


@fused_attention.register_vmap
def _(info: Any, in_dims: Any, triples: Tensor, heads: int, some: int) -> Any:
    """Compute the rows of all models in one call."""
    rows = triples.movedim(in_dims[0], 0).flatten(0, 1)
    return fused_attention(rows, heads, some).unflatten(0, (info.batch_size, -1)), 0
