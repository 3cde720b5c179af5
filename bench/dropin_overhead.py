"""What a call of a drop-in costs the host, part by part: `python bench/dropin_overhead.py` on a machine with a GPU.

Makes a drop-in for a module of one small kernel and times, in one process and in turn, an empty module, the original,
the whole drop-in, and what its fast path is made of (python/solstice/dropin/fast.py). The least of many short runs of
each, in microseconds; several rounds, because a process may be in a slower state than another one.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))

import torch

import solstice

RUNS, CALLS, ROUNDS = 30, 200, 3


class Scale(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.rand(4096))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.relu(x * self.w) * self.w)


class Empty(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def least_us(call: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(RUNS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter() - start) / CALLS)
    return best * 1e6


def parts(new: torch.nn.Module, x: torch.Tensor) -> dict[str, Callable[[], object]]:
    runtime = new.__dict__["_solstice_runtime"]
    bound = runtime.fast.__globals__

    def one(prefix: str) -> Callable:
        return next(value for name, value in bound.items() if name.startswith(prefix) and name[len(prefix) :].isdigit())

    stream, empty, pack, relaunch = one("stream"), one("empty"), one("pack"), one("relaunch")
    slot = one("ready")(stream(0))
    y = torch.empty_like(x)
    moved = pack(x.data_ptr(), y.data_ptr())
    return {
        "fast path": lambda: runtime.fast(new, (x,), {}),
        "current stream": lambda: stream(0),
        "is it capturing": one("capturing"),
        "autocast flag": bound["autocast"],
        "TF32 flag": bound["matmul_tf32"],
        "dispatch modes": bound["dispatch_modes"],
        "function transform": bound["transform"],
        "allocation": lambda: empty(tuple(x.shape), (1,), torch.float32),
        "address": x.data_ptr,
        "pack": lambda: pack(1, 2),
        "launch": lambda: relaunch(slot.call, moved),
        "nothing": lambda: None,
    }


def main() -> None:
    original = Scale().cuda()
    x = torch.rand(4096, device="cuda")
    new = solstice.optimize(original, (x,), baselines=False, budget="5s,2trials")
    if not new.solstice.faster:
        sys.exit(f"no drop-in to measure: {new.solstice}")
    with torch.no_grad():
        new(x)
        calls = {"drop-in": lambda: new(x), "original": lambda: original(x), **parts(new, x)}
        empty = Empty()
        calls["empty module"] = lambda: empty(x)
        for _ in range(ROUNDS):
            print("  ".join(f"{name} {least_us(call):.2f}" for name, call in calls.items()), flush=True)


if __name__ == "__main__":
    main()
