#!/usr/bin/env python3
"""Maps over 1 GB and more against the copy ceiling; sums, maxima and their places along a middle and the last axis
against the read ceiling; some shapes drawn from the seed.

    python3 bench/speed/elementwise.py [--quick] [--seed N] [--json FILE]
"""

from __future__ import annotations

import random
from typing import Callable

import torch
import torch.nn.functional as F

import harness
from works import Tensors, Work, main, mark_drawn

COPY, SUM, PLACE = 0.98, 0.96, 0.92  # bars
FLOOR = 0.99  # never slower than PyTorch, but for what two times of one thing differ by
SIZE = {"f32": 4, "bf16": 2}


def filled(shape: tuple[int, ...], dtype: str = "f32") -> torch.Tensor:
    return torch.randn(shape, device="cuda").to(harness.DTYPES[dtype])


def a_map(
    name: str,
    value: str,
    eager: Callable[..., torch.Tensor],
    m: int,
    n: int,
    dtype: str = "f32",
    result: str = "",
    more: str = "",
    others: Callable[[], Tensors] = dict,
    tensors: int = 1,
) -> Work:
    """y[m,n] = value. `more` declares inputs beside x, which `others` makes; `tensors` are read whole."""
    result = result or dtype
    text = (
        f"program p\ndim M = {m}, N = {n}\ninput x : {dtype}[M, N]\n{more}\noutput y : {result}[M, N]\n\n"
        f"y[m,n] = {value}\n"
    )
    return Work(
        name,
        f"{m} x {n} {dtype}" + (f" to {result}" if result != dtype else ""),
        text,
        lambda: {"x": filled((m, n), dtype)} | others(),
        lambda t: {"y": eager(**t)},
        m * n * (tensors * SIZE[dtype] + SIZE[result]),
        COPY,
        floor=FLOOR,
    )


def cast(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.to(torch.bfloat16)


def widen(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.float()


MAPS: dict[str, Callable[[int, int], Work]] = {
    "relu": lambda m, n: a_map("relu", "relu(x[m,n])", lambda x: F.relu(x), m, n),
    "gelu": lambda m, n: a_map("gelu", "gelu(x[m,n])", lambda x: F.gelu(x), m, n),
    "tanh": lambda m, n: a_map("tanh", "tanh(x[m,n])", torch.tanh, m, n),
    "swish": lambda m, n: a_map("swish", "x[m,n] * sigmoid(x[m,n])", lambda x: x * torch.sigmoid(x), m, n),
    "add a bias": lambda m, n: a_map(
        "add a bias",
        "x[m,n] + b[n]",
        lambda x, b: x + b,
        m,
        n,
        more="input b : f32[N]",
        others=lambda: {"b": filled((n,))},
    ),
    "scale rows": lambda m, n: a_map(
        "scale rows",
        "x[m,n] * b[m]",
        lambda x, b: x * b[:, None],
        m,
        n,
        more="input b : f32[M]",
        others=lambda: {"b": filled((m,))},
    ),
    "add two": lambda m, n: a_map(
        "add two",
        "x[m,n] + z[m,n]",
        lambda x, z: x + z,
        m,
        n,
        more="input z : f32[M, N]",
        others=lambda: {"z": filled((m, n))},
        tensors=2,
    ),
    "cast": lambda m, n: a_map("cast", "x[m,n]", cast, m, n, result="bf16"),
    "cast back": lambda m, n: a_map("cast", "x[m,n]", widen, m, n, "bf16", "f32"),
    "relu bf16": lambda m, n: a_map("relu", "relu(x[m,n])", lambda x: F.relu(x), m, n, "bf16"),
    "gelu bf16": lambda m, n: a_map("gelu", "gelu(x[m,n])", lambda x: F.gelu(x), m, n, "bf16"),
}


def misplaced(axis: int) -> Callable[[Tensors, Tensors], float]:
    """Share of places at which the extremum does not stand."""

    def share(given: Tensors, got: Tensors) -> float:
        found = given["x"].gather(axis, got["y"].unsqueeze(axis)).squeeze(axis)
        return (found != given["x"].amax(axis)).float().mean().item()

    return share


def a_reduction(name: str, b: int, k: int, n: int, axis: int) -> Work:
    index, kept = ("k", "b,n") if axis == 1 else ("n", "b,k")
    place = name == "argmax"
    text = (
        f"program p\ndim B = {b}, K = {k}, N = {n}\ninput x : f32[B, K, N]\n"
        f"output y : {'i64' if place else 'f32'}[{kept.upper()}]\n\n"
        f"y[{kept}] = {name}[{index}](x[b,k,n])\n"
    )
    eager = {"sum": torch.sum, "max": torch.amax, "argmax": torch.argmax}[name]
    return Work(
        f"{name} over {'a middle' if axis == 1 else 'the last'} axis",
        f"{b} x {k} x {n} f32",
        text,
        lambda: {"x": filled((b, k, n))},
        lambda t: {"y": eager(t["x"], axis)},
        4 * b * k * n,
        SUM if name == "sum" else PLACE,
        "read",
        FLOOR,
        misplaced(axis) if place else None,
    )


def drawn(count: int, seed: int) -> list[Work]:
    """Two thirds of a GB to four thirds, of any extents."""
    draw = random.Random(seed)
    out = []
    for i in range(count):
        elements = int(2**28 * draw.uniform(0.75, 1.5))
        n = int(2 ** draw.uniform(6, 14))
        if i % 2:
            k = int(2 ** draw.uniform(6, 12))
            work = a_reduction(
                draw.choice(("sum", "max", "argmax")), max(1, elements // (k * n)), k, n, draw.choice((1, 2))
            )
        else:
            work = MAPS[draw.choice(sorted(MAPS))](elements // n, n)
        out.append(mark_drawn(work, seed))
    return out


def works(quick: bool, seed: int) -> list[Work]:
    if quick:
        out = [MAPS[name](16384, 16384) for name in ("relu", "gelu", "add a bias", "cast")]
        out += [a_reduction(name, 64, 4096, 4095, axis) for name in ("sum", "max", "argmax") for axis in (1, 2)]
        return out + drawn(2, seed)
    out = [make(16384, 16384) for make in MAPS.values()]
    out += [MAPS["add a bias"](65537, 4095), MAPS["gelu"](4096, 393216), MAPS["scale rows"](65537, 4095)]
    out += [
        a_reduction(name, b, k, n, axis)
        for name in ("sum", "max", "argmax")
        for axis in (1, 2)
        for b, k, n in ((128, 4096, 4095), (128, 4096, 4096))
    ]
    return out + drawn(5, seed)


if __name__ == "__main__":
    main(__doc__, works)
