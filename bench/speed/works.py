"""Rows of the speed tables that a planner schedules: planned, compiled, checked against float64, timed beside PyTorch
and the ceiling of the memory.

A `Work` is a problem without schedules. `solstice plan` cuts it into kernels; its first candidate, which the cost
models choose alone, is the row's figure (`auto`), and where a search's next two are faster the best of the three
stands with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable, Optional

import torch

import harness

PROPOSALS = 3
DRAWN = 0.9  # of a bar, for shapes that are drawn
Tensors = dict[str, torch.Tensor]


@dataclass
class Work:
    work: str  # its line in the table of bars
    shape: str
    text: str  # the problem
    inputs: Callable[[], Tensors]  # by the program's names; states are changed in place
    eager: Callable[[Tensors], Tensors]  # PyTorch's results by the program's names, states included
    bytes: int  # what the bar counts, where it is a share of a ceiling
    bar: float
    of: str = "copy"  # or "read": the ceiling; else what PyTorch's time is called, over which ours is taken
    floor: float = 0.0  # what PyTorch's time over ours must be
    wrong: Optional[Callable[[Tensors, Tensors], float]] = None  # share of wrong results, for integers: none may be
    numerics: str = "reference"  # under others PyTorch multiplies by TF32
    flops: float = 0.0  # where a rate of them says more than that of bytes


def mark_drawn(work: Work, seed: int) -> Work:
    work.shape += f", drawn ({seed})"
    work.bar, work.floor = round(DRAWN * work.bar, 3), DRAWN * work.floor
    return work


def plan(work: Work, numerics: str) -> list[dict[str, Any]]:
    with tempfile.NamedTemporaryFile("w", suffix=".ucut") as source:
        source.write(work.text)
        source.flush()
        done = subprocess.run(
            [harness.solstice(), "plan", source.name, "--proposals", str(PROPOSALS), "--numerics", numerics, "--json"],
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr).strip())
    return json.loads(done.stdout)


def compiled(work: Work) -> Any:
    """Schedules and programs, or why there are none."""
    try:
        return [("; ".join(s.split(" ", 1)[1] for s in c["schedules"]), harness.Program(c["program"], work.numerics))
                for c in plan(work, work.numerics)]  # fmt: skip
    except RuntimeError as reason:
        return str(reason)


def double(tensors: Tensors) -> Tensors:
    return {name: t.double() if t.is_floating_point() else t.clone() for name, t in tensors.items()}


def worst(got: Tensors, exact: Tensors) -> float:
    """The largest normwise error of the floating-point results."""

    def error(name: str) -> float:
        size = exact[name].norm()
        return ((got[name].double() - exact[name]).norm() / torch.where(size > 0, size, 1.0)).item()

    return max((error(name) for name in exact if exact[name].is_floating_point()), default=0.0)


def roundoff(got: Tensors) -> float:
    return max((torch.finfo(t.dtype).eps / 2 for t in got.values() if t.is_floating_point()), default=0.0)


def outputs(program: harness.Program, exact: Tensors) -> Tensors:
    return {name: program.tensors[name] for name in exact}


def check(work: Work, programs: list[tuple[str, harness.Program]], given: Tensors) -> dict[str, float]:
    """Binds the programs and holds one call of each against float64. The limit is that of `reference`, without its
    model: 1.1 times PyTorch's own error, or 4 unit roundoffs."""
    exact = work.eager(double(given))
    torchs = work.eager({name: t.clone() for name, t in given.items()})
    limit = max(1.1 * worst(torchs, exact), 4 * roundoff(torchs))
    result = {"error": 0.0, "eager error": worst(torchs, exact), "limit": limit}
    for how, program in programs:
        program.bind({name: t.clone() if name in exact else t for name, t in given.items()})
        program()
        got = outputs(program, exact)
        error = worst(got, exact)
        wrong = work.wrong(given, got) if work.wrong else 0.0
        if not error <= limit or wrong:
            raise ValueError(f"wrong result of {how}: error {error:.2e}, limit {limit:.2e}, wrong integers {wrong:.2e}")
        result["error"] = max(result["error"], error)
    return result


def measure(work: Work, programs: list[tuple[str, harness.Program]], rounds: int = 8) -> dict[str, Any]:
    torch.backends.cuda.matmul.allow_tf32 = work.numerics != "reference"
    given = work.inputs()
    result: dict[str, Any] = {
        "work": work.work,
        "shape": work.shape,
        "bar": work.bar,
        "of": work.of,
        "floor": work.floor,
    } | check(work, programs, given)
    works: dict[Any, Callable[[], Any]] = {i: program for i, (_, program) in enumerate(programs)}
    works["eager"] = lambda: work.eager(given)
    ceilings = (
        {"copy": harness.copy_of(work.bytes)}
        if work.of == "copy"
        else harness.reads_of(work.bytes)
        if work.of == "read"
        else {}
    )
    times = harness.side_by_side(works | ceilings, rounds)
    ceiling = min(times[name] for name in ceilings or ("eager",))
    best = min(range(len(programs)), key=lambda i: times[i])
    rates = {"TFLOP/s": 1e-12 * work.flops / times[0]} if work.flops else {"TB/s": 1e-12 * work.bytes / times[0]}
    if ceilings:
        rates["ceiling TB/s"] = 1e-12 * work.bytes / ceiling
    clock = harness.Clock()
    return result | rates | {
        "ratio": ceiling / times[0], "how": programs[0][0], "ms": 1e3 * times[0],
        "best ratio": ceiling / times[best], "best how": programs[best][0], "best ms": 1e3 * times[best],
        "eager ms": 1e3 * times["eager"], "speedup": times["eager"] / times[0],
        "MHz": clock.megahertz(programs[0][1], 3), "eager MHz": clock.megahertz(works["eager"], 3),
    }  # fmt: skip


def run(works: list[Work], keep: Callable[[list[dict[str, Any]]], None]) -> None:
    """All of them, printed and kept as they are done. A row that fails says why; nothing else stops for it."""
    results: list[dict[str, Any]] = []
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 2)) as pool:
        for work, made in zip(works, pool.map(compiled, works)):
            result = {"work": work.work, "shape": work.shape, "failed": made}
            if not isinstance(made, str):
                try:
                    result = measure(work, made)
                except (RuntimeError, ValueError) as reason:
                    result["failed"] = str(reason)
                for _, program in made:
                    program.close()
            torch.cuda.empty_cache()
            results.append(result)
            keep(results)
            harness.say(line(result))


def main(usage: str, make: Callable[[bool, int], list[Work]]) -> None:
    """What a script of such rows does: `make` gives them by its options `--quick` and `--seed`."""
    args = harness.arguments(usage)
    torch.manual_seed(args.seed)
    run(make(args.quick, args.seed), lambda results: harness.save(args, results))


def line(r: dict[str, Any]) -> str:
    if "failed" in r:
        return f"{r['work']:22} {r['shape']:28} failed: {r['failed']}"
    rate = f"{r['TFLOP/s']:4.0f} TFLOP/s" if "TFLOP/s" in r else f"{r['TB/s']:6.3f} TB/s"
    better = f" (best of {PROPOSALS} {r['best ratio']:.3f} {r['best how']})" if r["best how"] != r["how"] else ""
    return (
        f"{r['work']:22} {r['shape']:28} {r['ms']:8.4f} ms {rate} {r['ratio']:6.3f} of {r['of']} (bar {r['bar']}) "
        f"eager {r['eager ms']:8.4f} ms {r['speedup']:6.2f}x  error {r['error']:.1e} ({r['eager error']:.1e})  "
        f"{r['MHz']:.0f} MHz ({r['eager MHz']:.0f})  {r['how']}{better}"
    )
