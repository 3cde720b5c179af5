#!/usr/bin/env python3
"""Prefix sums and products and linear recurrences against the copy ceiling at one read and one write, and against
PyTorch. Rows of 100 to 268 million elements, of odd lengths, in bf16, along an axis that is not innermost, and shapes
drawn from the seed. PyTorch has no linear recurrence: what stands for it doubles the distance of steps that it
combines, which is faster than a loop over them.

    python3 bench/speed/scan.py [--quick] [--seed N] [--json FILE]
"""

from __future__ import annotations

import random
from typing import Callable

import torch

import harness
from works import Tensors, Work, main, mark_drawn

BAR, FLOOR = 0.85, 1.0
ELEMENTS = 1 << 28
# Right sides over the row at `n`, in the place of which `j` and `b` (before) stand.
RIGHT = {
    "cumsum": "sum[j where j <= n](x[{j}])",
    "exclusive": "sum[j where j < n](x[{j}])",
    "reverse": "sum[j where j >= n](x[{j}])",
    "masked": "sum[j where j <= n and keep[{j}]](x[{j}])",
    "cumprod": "prod[j where j <= n](x[{j}])",
    "recurrence": "a[{n}] * y[{b} else 0] + x[{n}]",
}
# An exclusive sum as torch.cat writes it.
JOINED = """program p
dim M = {rows}, N = {length}, L = N-1
input x : f32[M, N]
output y : f32[M, N]

y[m,0] = 0
c[m,n] = sum[j<L where j <= n](x[m,j]) for n<L
y[m,n+1] = c[m,n]
"""


def recurrence(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """After a round that combines steps so far apart, a and x stand for twice as many."""
    a, x = a.clone(), x.clone()
    apart = 1
    while apart < x.shape[1]:
        x[:, apart:] += a[:, apart:] * x[:, :-apart].clone()
        a[:, apart:] *= a[:, :-apart].clone()
        apart *= 2
    return x


EAGER: dict[str, Callable[[Tensors], torch.Tensor]] = {
    "cumsum": lambda t: torch.cumsum(t["x"], 1),
    "exclusive": lambda t: torch.cat((torch.zeros_like(t["x"][:, :1]), torch.cumsum(t["x"][:, :-1], 1)), 1),
    "reverse": lambda t: torch.cumsum(t["x"].flip(1), 1).flip(1),
    "masked": lambda t: torch.cumsum(t["x"] * t["keep"], 1),
    "cumprod": lambda t: torch.cumprod(t["x"], 1),
    "recurrence": lambda t: recurrence(t["a"], t["x"]),
}


def scan(form: str, rows: int, length: int, inner: int = 1, dtype: str = "f32") -> Work:
    """Along the middle axis of three where `inner` is more than 1."""
    shape = [rows, length] + [inner] * (inner > 1)
    tail, dims = (",p", "M, N, P") if inner > 1 else ("", "M, N")
    right = RIGHT[form].format(n=f"m,n{tail}", j=f"m,j{tail}", b=f"m,n-1{tail}")
    more = {"masked": f"input keep : bool[{dims}]\n", "recurrence": f"input a : {dtype}[{dims}]\n"}.get(form, "")
    text = (
        f"program p\ndim M = {rows}, N = {length}{f', P = {inner}' if inner > 1 else ''}\n"
        f"input x : {dtype}[{dims}]\n{more}"
        f"output y : {dtype}[{dims}]\n\ny[m,n{tail}] = {right}\n"
    )
    element = harness.DTYPES[dtype].itemsize

    def inputs() -> Tensors:
        x = torch.rand(shape, device="cuda", dtype=harness.DTYPES[dtype])
        given = {"x": 1 + (x - 0.5) / 64 if form == "cumprod" else x}  # whose products stay near 1
        if form == "masked":
            given["keep"] = torch.rand(shape, device="cuda", dtype=torch.float16) < 0.5
        return given | (
            {"a": torch.rand(shape, device="cuda", dtype=harness.DTYPES[dtype])} if form == "recurrence" else {}
        )

    count = rows * length * inner
    return Work(
        form,
        f"{' x '.join(str(n) for n in shape)} {dtype}{', axis 1' if inner > 1 else ''}",
        text,
        inputs,
        lambda t: {"y": EAGER[form](t)},
        count * (2 * element + {"masked": 1, "recurrence": element}.get(form, 0)),
        BAR,
        floor=FLOOR,
    )


def joined(rows: int, length: int) -> Work:
    work = scan("exclusive", rows, length)
    work.work, work.text = "exclusive, joined", JOINED.format(rows=rows, length=length)
    return work


def drawn(count: int, seed: int) -> list[Work]:
    """One in bf16, one along an axis that is not innermost."""
    draw = random.Random(seed)
    out = []
    for i in range(count):
        length = int(10 ** draw.uniform(2, 6.6)) | 1
        inner = int(10 ** draw.uniform(1.5, 3.5)) if i == 1 else 1
        form = draw.choice(list(RIGHT))
        out.append(scan(form, max(1, ELEMENTS // (length * inner)), length, inner, "bf16" if i == 0 else "f32"))
        mark_drawn(out[-1], seed)
    return out


def works(quick: bool, seed: int) -> list[Work]:
    out = [scan("cumsum", ELEMENTS // n, n) for n in (100, 1000, 4095, 32768, 2_600_000, 7_000_001, ELEMENTS)]
    out += [scan(form, 8192, 32768) for form in ("exclusive", "reverse", "masked", "cumprod")] + [joined(8192, 32768)]
    out += [scan("cumsum", ELEMENTS // n, n, dtype="bf16") for n in (4097, 32768)] + [
        scan("reverse", 24, 10_000_000, dtype="bf16")
    ]
    out += [scan("cumsum", 64, 4096, 1024), scan("cumsum", 50, 5000, 1001)]
    out += [scan("recurrence", 16384, 16384), scan("recurrence", 16, 8192, 2048), scan("recurrence", 64, 2_000_000)]
    if not quick:
        out += [scan("cumsum", 32768, 32768), scan("cumsum", 1, 2_000_000, 96), scan("cumsum", 1000, 999, 256, "bf16")]
        out += [
            scan("masked", 100, 2_600_000),
            scan("recurrence", 65536, 4095),
            scan("recurrence", 16384, 16384, dtype="bf16"),
        ]
    return out + drawn(2 if quick else 5, seed)


if __name__ == "__main__":
    main(__doc__, works)
