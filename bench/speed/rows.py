#!/usr/bin/env python3
"""Softmax, normalisations, batch norm in train mode and cross entropy along rows of 1 K to 2 M, against the copy
ceiling at one read and one write of the data: two reads where a row is more than half of L2. Cross entropy, which
writes nothing, is held against the read ceiling. Some rows have odd lengths, and some shapes are drawn from the seed.

    python3 bench/speed/rows.py [--quick] [--seed N] [--json FILE]
"""

from __future__ import annotations

import random
from typing import Callable

import torch
import torch.nn.functional as F

from works import Tensors, Work, main, mark_drawn

BAR = 0.90
ELEMENTS = 1 << 27
EPS = "1e-5"


def filled(*shape: int) -> torch.Tensor:
    return torch.randn(shape, device="cuda")


def reads_a_row(row: int) -> int:
    return 1 if 4 * row <= torch.cuda.get_device_properties(0).L2_cache_size // 2 else 2


def along(name: str, body: str, eager: Callable[..., torch.Tensor], params: str = "") -> Callable[[int, int], Work]:
    """Of M rows of N elements; `params` are vectors of N that the body reads."""

    def make(m: int, n: int) -> Work:
        declared = "".join(f"param {p} : f32[N]\n" for p in params)
        text = f"program p\ndim M = {m}, N = {n}\n{declared}input x : f32[M, N]\noutput y : f32[M, N]\n\n{body}"
        return Work(
            name,
            f"{m} x {n} f32",
            text,
            lambda: {"x": filled(m, n)} | {p: filled(n) for p in params},
            lambda t: {"y": eager(**t)},
            4 * m * n * (reads_a_row(n) + 1),
            BAR,
        )

    return make


SOFTMAX = along(
    "softmax",
    "e[m,n] = exp(x[m,n] - max[j](x[m,j]))\ny[m,n] = e[m,n] / sum[j](e[m,j])\n",
    lambda x: torch.softmax(x, 1),
)
LAYER = along(
    "layer norm",
    "mu[m] = mean[j](x[m,j])\nvr[m] = var[j](x[m,j])\n"
    f"y[m,n] = (x[m,n] - mu[m]) * rsqrt(vr[m] + {EPS}) * g[n] + b[n]\n",
    lambda x, g, b: F.layer_norm(x, g.shape, g, b, float(EPS)),
    "gb",
)
LINES = {
    "softmax": SOFTMAX,
    "layer norm": LAYER,
    "log-softmax": along(
        "log-softmax",
        "s[m,n] = x[m,n] - max[j](x[m,j])\ny[m,n] = s[m,n] - log(sum[j](exp(s[m,j])))\n",
        lambda x: torch.log_softmax(x, 1),
    ),
    "RMS norm": along(
        "RMS norm",
        f"r[m] = rsqrt(mean[j](x[m,j]**2) + {EPS})\ny[m,n] = x[m,n] * r[m] * g[n]\n",
        lambda x, g: F.rms_norm(x, g.shape, g, float(EPS)),
        "g",
    ),
    "L1 norm": along(
        "L1 norm", "y[m,n] = x[m,n] / max(sum[j](abs(x[m,j])), 1e-12)\n", lambda x: F.normalize(x, p=1.0, dim=1)
    ),
    "L2 norm": along(
        "L2 norm", "y[m,n] = x[m,n] / max(sqrt(sum[j](x[m,j]**2)), 1e-12)\n", lambda x: F.normalize(x, dim=1)
    ),
}


def planes(b: int, c: int, h: int, w: int, states: str = "") -> str:
    return (
        f"program p\ndim B = {b}, C = {c}, H = {h}, W = {w}\nparam g : f32[C]\nparam s : f32[C]\n"
        f"{states}input x : f32[B, C, H, W]\noutput y : f32[B, C, H, W]\n\n"
    )


def group_norm(b: int, c: int, h: int, w: int, groups: int) -> Work:
    d = c // groups
    over = f"x[b,{d}*q+d,h,w]"
    body = (
        f"mu[b,q] = mean[d<{d},h,w]({over}) for q<{groups}\nvr[b,q] = var[d<{d},h,w]({over}) for q<{groups}\n"
        f"y[b,{d}*q+d,h,w] = ({over} - mu[b,q]) * rsqrt(vr[b,q] + {EPS}) * g[{d}*q+d] + s[{d}*q+d] "
        f"for q<{groups}, d<{d}\n"
    )
    return Work(
        "instance norm" if d == 1 else "group norm",
        f"{b} x {c} x {h} x {w} f32, rows of {d * h * w}",
        planes(b, c, h, w) + body,
        lambda: {"x": filled(b, c, h, w), "g": filled(c), "s": filled(c)},
        lambda t: {"y": F.group_norm(t["x"], groups, t["g"], t["s"], float(EPS))},
        4 * b * c * h * w * (reads_a_row(d * h * w) + 1),
        BAR,
    )


def batch_norm(b: int, c: int, h: int, w: int) -> Work:
    count = b * h * w
    states = "buffer rm : f32[C]\nbuffer rv : f32[C]\ntensor rm_new : f32[C] into rm\ntensor rv_new : f32[C] into rv\n"
    body = (
        f"mu[c] = mean[b,h,w](x[b,c,h,w])\nvr[c] = var[b,h,w](x[b,c,h,w])\n"
        f"y[b,c,h,w] = (x[b,c,h,w] - mu[c]) * rsqrt(vr[c] + {EPS}) * g[c] + s[c]\n"
        f"rm_new[c] = 0.9 * rm[c] + 0.1 * mu[c]\nrv_new[c] = 0.9 * rv[c] + 0.1 * (vr[c] * {count} / {count - 1})\n"
    )

    def eager(t: Tensors) -> Tensors:
        y = F.batch_norm(t["x"], t["rm"], t["rv"], t["g"], t["s"], True, 0.1, float(EPS))
        return {"y": y, "rm": t["rm"], "rv": t["rv"]}

    return Work(
        "batch norm, train",
        f"{b} x {c} x {h} x {w} f32, channels of {count}",
        planes(b, c, h, w, states) + body,
        lambda: {"x": filled(b, c, h, w), "g": filled(c), "s": filled(c), "rm": filled(c), "rv": filled(c).abs()},
        eager,
        4 * b * c * h * w * (reads_a_row(count) + 1),
        BAR,
    )


def cross_entropy(m: int, n: int) -> Work:
    text = (
        f"program p\ndim M = {m}, N = {n}\ninput x : f32[M, N]\ninput t : i64[M]\noutput y : f32[]\n\n"
        "mx[m] = max[n](x[m,n])\n"
        "nl[m] = log(sum[n](exp(x[m,n] - mx[m]))) - (x[m,t[m] else 0] - mx[m])\n"
        "y[] = sum[m where t[m] != -100](nl[m]) / sum[m where t[m] != -100](1)\n"
    )
    return Work(
        "cross entropy",
        f"{m} x {n} f32",
        text,
        lambda: {"x": filled(m, n), "t": torch.randint(n, (m,), device="cuda")},
        lambda t: {"y": F.cross_entropy(t["x"], t["t"])},
        4 * m * n * reads_a_row(n),
        BAR,
        "read",
    )


def drawn(count: int, seed: int) -> list[Work]:
    draw = random.Random(seed)
    out = []
    for _ in range(count):
        n = int(2 ** draw.uniform(10, 21))
        out.append(
            mark_drawn(draw.choice([*LINES.values(), cross_entropy])(int(ELEMENTS * draw.uniform(1, 2)) // n, n), seed)
        )
    return out


def works(quick: bool, seed: int) -> list[Work]:
    if quick:
        out = [make(ELEMENTS // n, n) for n in (1024, 32767, 2097152) for make in (SOFTMAX, LAYER)]
        out += [make(ELEMENTS // 16384, 16384) for name, make in LINES.items() if make not in (SOFTMAX, LAYER)]
        out += [
            group_norm(16, 64, 256, 256, 8),
            group_norm(16, 64, 256, 256, 64),
            batch_norm(32, 64, 256, 256),
            cross_entropy(4096, 32768),
        ]
        return out + drawn(2, seed)
    lengths = (1024, 1025, 4097, 16384, 32768, 65536, 131071, 262144, 524288, 1000003, 1048576, 2097151, 2097152)
    out = [make(ELEMENTS // n, n) for make in (SOFTMAX, LAYER) for n in lengths]
    out += [
        make(ELEMENTS // n, n)
        for make in LINES.values()
        if make not in (SOFTMAX, LAYER)
        for n in (1024, 16384, 50257, 1048576)
    ]
    out += [
        group_norm(112, 64, 256, 256, 8),
        group_norm(16, 64, 512, 512, 8),
        group_norm(64, 96, 55, 55, 12),
        group_norm(32, 512, 32, 32, 32),
    ]
    out += [group_norm(16, 64, 512, 512, 64), group_norm(112, 64, 128, 128, 64), group_norm(64, 96, 111, 111, 96)]
    out += [batch_norm(64, 64, 128, 128), batch_norm(64, 64, 512, 512), batch_norm(128, 256, 55, 55)]
    out += [
        cross_entropy(m, n) for m, n in ((131072, 1024), (32768, 4096), (4096, 50257), (1024, 131072), (128, 1048576))
    ]
    return out + drawn(5, seed)


if __name__ == "__main__":
    main(__doc__, works)
