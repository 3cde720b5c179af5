#!/usr/bin/env python3
"""Matrix products against cuBLAS: in fp32 under `reference`, under `high` against TF32, in bf16, and with 128 rows
against the read ceiling (`high`) and eager fp32 (`reference`), bias and GELU included; shapes of each kind drawn from
the seed, whose bars are 0.9 of the table's. Everything is in the timed span: splits, guards, the idle fallback.

    python3 bench/speed/gemm.py [--quick] [--seed N] [--json FILE]
"""

from __future__ import annotations

import random
from typing import Optional

import torch
import torch.nn.functional as F

import harness
from works import Tensors, Work, main

DRAWN_BAR = 0.9


def stored(lines: int, k: int, major: str, dtype: str) -> torch.Tensor:
    """A matrix of `lines` and k, with k (K) or the lines (M) contiguous."""
    return torch.randn((lines, k) if major == "K" else (k, lines), device="cuda").to(harness.DTYPES[dtype])


def a_product(
    work: str,
    m: int,
    n: int,
    k: int,
    bar: float,
    of: str,
    dtype: str = "f32",
    numerics: str = "reference",
    majors: str = "KK",
) -> Work:
    x, w = ("m,k" if majors[0] == "K" else "k,m"), ("n,k" if majors[1] == "K" else "k,n")
    text = (
        f"program p\ndim M = {m}, N = {n}, K = {k}\ninput x : {dtype}[{x.upper()}]\n"
        f"input w : {dtype}[{w.upper()}]\noutput y : {dtype}[M, N]\n\n"
        f"y[m,n] = sum[k](x[{x}] * w[{w}])\n"
    )

    def eager(t: Tensors) -> Tensors:
        return {"y": torch.mm(t["x"] if majors[0] == "K" else t["x"].t(), t["w"].t() if majors[1] == "K" else t["w"])}

    return Work(
        work,
        f"{m} x {n} x {k} {dtype} {majors}",
        text,
        lambda: {"x": stored(m, k, majors[0], dtype), "w": stored(n, k, majors[1], dtype)},
        eager,
        0,
        bar,
        of,
        numerics=numerics,
        flops=2.0 * m * n * k,
    )


def few_rows(work: str, m: int, n: int, k: int, bar: float, of: str, numerics: str) -> Work:
    text = (
        f"program p\ndim M = {m}, N = {n}, K = {k}\ninput x : f32[M, K]\ninput w : f32[N, K]\ninput b : f32[N]\n"
        "output y : f32[M, N]\n\n"
        "y[m,n] = gelu(sum[k](x[m,k] * w[n,k]) + b[n])\n"
    )
    return Work(
        work,
        f"{m} x {n} x {k} f32",
        text,
        lambda: {"x": stored(m, k, "K", "f32"), "w": stored(n, k, "K", "f32"), "b": torch.randn(n, device="cuda")},
        lambda t: {"y": F.gelu(F.linear(t["x"], t["w"], t["b"]))},
        4 * n * k,
        bar,
        of,
        numerics=numerics,
        flops=2.0 * m * n * k,
    )


def fp32(m: int, n: int, k: int, bar: float, majors: str = "KK") -> Work:
    return a_product("fp32 GEMM", m, n, k, bar, "cuBLAS", majors=majors)


def high(m: int, n: int, k: int, bar: float, majors: str = "KK") -> Work:
    return a_product("fp32 GEMM, high", m, n, k, bar, "cuBLAS TF32", numerics="high", majors=majors)


def bf16(m: int, n: int, k: int, bar: float, majors: str = "KK") -> Work:
    return a_product("bf16 GEMM", m, n, k, bar, "cuBLAS", "bf16", majors=majors)


def few_high(m: int, n: int, k: int, bar: float, majors: Optional[str] = None) -> Work:
    return few_rows("few rows, high", m, n, k, bar, "read", "high")


def few_fp32(m: int, n: int, k: int, bar: float, majors: Optional[str] = None) -> Work:
    return few_rows("few rows", m, n, k, bar, "eager", "reference")


WIDE, LARGE, FEW = (
    ((512, 2048), (4096, 12288), (4096, 12288)),
    ((2048, 8192),) * 3,
    ((64, 128), (8192, 32768), (8192, 32768)),
)
# The table's shape, its bar, and where others of its kind are drawn from.
ROWS = (
    (fp32, (4096, 4096, 4096), 4.2, LARGE),
    (fp32, (1024, 8192, 8192), 3.9, WIDE),
    (high, (4096, 4096, 4096), 1.25, LARGE),
    (bf16, (8192, 8192, 8192), 0.95, ((2048, 12288),) * 3),
    (few_high, (128, 32768, 32768), 0.80, FEW),
    (few_fp32, (128, 32768, 32768), 3.0, FEW),
)


def works(quick: bool, seed: int) -> list[Work]:
    draw = random.Random(seed)
    out = []
    for make, (m, n, k), bar, extents in ROWS:
        out.append(make(m, n, k, bar))
        for _ in range(1 if quick else 5):
            # Two in three of the extents are multiples of 64, most others of 8.
            m, n, k = (
                max(1, draw.randint(low, high) // step) * step
                for low, high in extents
                for step in [draw.choice((64, 64, 64, 64, 8, 1))]
            )
            out.append(make(m, n, k, DRAWN_BAR * bar, draw.choice(("KK", "KM", "MK"))))
            out[-1].shape += f", drawn ({seed})"
    return out


if __name__ == "__main__":
    main(__doc__, works)
