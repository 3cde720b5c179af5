#!/usr/bin/env python3
"""Grouped bf16 products of 16 experts with ragged rows, and the gradient of their weights, against Triton kernels that
are tuned here over tiles, stages, warps and structure (bench/kernels/grouped_triton.py), and against torch._grouped_mm.

Ours starts from an expert number a row, sorts rows by it on the device and pays for that here; the others are given the
rows sorted, the groups' offsets, and Triton a list of tiles. Times are medians of turns (all in order, then in
reverse), each after 512 MB were written. `shuffled`: ours, where rows are in no order. Errors are normwise against
float64. Five shapes are drawn from the seed. With --quick, Triton has two tiles of 128 x 256 alone, the fastest of
earlier tries.

    python3 bench/speed/grouped.py [--quick] [--seed N] [--json FILE]
"""

from __future__ import annotations

import multiprocessing
import random
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import torch

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "kernels")]

import harness  # noqa: E402
from works import DRAWN  # noqa: E402

BAR = 1.0
WRONG = 5e-3  # twice what rounding to bf16 gives
EXPERTS = 16
ROWS = (8192, 32768)
MATRICES = ((4096, 4096), (14336, 4096), (2048, 7168))  # N, K
TEXT = {
    "forward": """program forward
dim R = {rows}, N = {n}, K = {k}, E = {experts}
input x : bf16[R, K]
input e : i32[R]
input w : bf16[E, N, K]
output y : bf16[R, N]
kernel up by gemm() {{
  y[m,n] = sum[k](x[m,k] * w[e[m],n,k])
}}
""",
    "gradient": """program gradient
dim R = {rows}, N = {n}, K = {k}, E = {experts}
input dy : bf16[R, N]
input x : bf16[R, K]
input e : i32[R]
output dw : bf16[E, N, K]
kernel grad by gemm() {{
  dw[g,n,k] = sum[m where e[m] == g](dy[m,n] * x[m,k])
}}
""",
}


QUICK_TILES = 2  # of grouped_triton.TILES
PROCESSES = 14


@dataclass
class Case:
    kind: str  # "forward" or "gradient"
    rows: int
    n: int
    k: int
    shares: str  # how rows are shared out: "multinomial", "skewed" or "drawn"
    seed: int

    def text(self) -> str:
        return TEXT[self.kind].format(rows=self.rows, n=self.n, k=self.k, experts=EXPERTS)

    def experts(self) -> torch.Tensor:
        """An expert for each row, sorted. Skewed: Zipf's law with exponent 1.2, and one expert without rows."""
        torch.manual_seed(self.rows + self.n + self.seed)
        share = torch.ones(EXPERTS)
        if self.shares == "skewed":
            share = (1.0 / torch.arange(1, EXPERTS + 1).float() ** 1.2)[torch.randperm(EXPERTS)]
            share[3] = 0
        if self.shares == "drawn":
            share = torch.distributions.Exponential(1.0).sample((EXPERTS,))
        return torch.multinomial(share, self.rows, replacement=True).sort()[0].int().cuda()


def cases(quick: bool, seed: int) -> list[Case]:
    shapes = [
        (rows, n, k, shares)
        for n, k in MATRICES[: 1 if quick else None]
        for rows in ROWS[: 1 if quick else None]
        for shares in ("multinomial", "skewed")
    ]
    draw = random.Random(seed)
    for _ in range(1 if quick else 5):
        n, k = (int(2 ** draw.uniform(9.5, 13)) // 8 * 8 for _ in range(2))
        shapes.append((int(2 ** draw.uniform(11, 15.5)), n, k, "drawn"))
    return [Case(kind, *shape, seed) for shape in shapes for kind in ("forward", "gradient")]


def compile_share(which: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Runs configurations on something small, which leaves them in Triton's cache; returns those that are right."""
    import grouped_triton as opponents

    opponents.use_allocator()
    torch.manual_seed(0)
    host = [0, 200, 512]
    e = torch.tensor([0] * 200 + [1] * 312, dtype=torch.int32, device="cuda")
    ends = torch.tensor(host[1:], dtype=torch.int32, device="cuda")
    x, dy = (torch.randn(512, 512, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    w = torch.randn(2, 512, 512, device="cuda", dtype=torch.bfloat16)
    right = []
    for kind, i in which:
        forward = kind == "forward"
        out = torch.zeros_like(x if forward else w)
        try:
            if forward:
                opponents.forward_call(opponents.forward_configs()[i], x, w, out, ends, host, 132)()
            else:
                opponents.gradient_call(opponents.gradient_configs()[i], dy, x, out, ends, 132)()
            found = error(kind, out, e, x if forward else dy, w if forward else x)
        except Exception as reason:  # more shared memory than there is, say: the configuration is out
            if "out of resource" not in str(reason) and type(reason).__name__ not in (
                "OutOfResources",
                "CompilationError",
            ):
                raise
            continue
        if found < WRONG:
            right.append((kind, i))
    return right


def compile_ours(case: Case) -> None:
    """Leaves the kernels in the cache."""
    harness.Program(case.text()).close()


def medians(works: dict[Any, Callable[[], Any]], rounds: int) -> dict[Any, float]:
    """Milliseconds. Nothing waits in between: while L2 is flushed, the next launch is on its way."""
    trash = torch.empty(512 << 20, dtype=torch.int8, device="cuda")
    events: dict[Any, list] = {name: [] for name in works}
    for work in works.values():
        work()
    for r in range(rounds):
        for name in list(works)[:: -1 if r % 2 else 1]:
            trash.zero_()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            works[name]()
            end.record()
            events[name].append((begin, end))
    torch.cuda.synchronize()
    return {name: statistics.median(b.elapsed_time(e) for b, e in pairs) for name, pairs in events.items()}


def that_run(calls: dict[int, Callable[[], Any]]) -> dict[int, Callable[[], Any]]:
    """Triton's configurations that run on these operands: one that fits on small ones may need more shared memory."""
    from triton.runtime.errors import OutOfResources

    out = {}
    for i, call in calls.items():
        try:
            call()
        except OutOfResources:
            continue
        out[i] = call
    if not out:
        raise RuntimeError("none of Triton's configurations runs on these operands")
    if len(out) < len(calls):
        harness.say(
            f"{len(calls) - len(out)} of {len(calls)} Triton configurations need more shared memory "
            "on the next operands"
        )
    return out


def error(kind: str, out: torch.Tensor, e: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> float:
    """Norm of the error over the norm of the result, in float64, a group at a time."""
    wrong = whole = torch.zeros((), dtype=torch.float64, device="cuda")
    for g in range(b.shape[0] if kind == "forward" else out.shape[0]):
        rows = (e == g).nonzero().flatten()
        left = a[rows].double()
        wanted = left @ b[g].double().T if kind == "forward" else left.T @ b[rows].double()
        got = (out[rows] if kind == "forward" else out[g]).double()
        wrong, whole = wrong + (got - wanted).square().sum(), whole + wanted.square().sum()
    return (wrong / whole).sqrt().item()


def bound(case: Case, e: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> tuple[harness.Program, float]:
    """Our program on these operands, run once, and its error."""
    names = ("x", "w", "y") if case.kind == "forward" else ("dy", "x", "dw")
    program = harness.Program(case.text())
    program.bind({names[0]: a, names[1]: b, "e": e})
    program()
    return program, error(case.kind, program.tensors[names[2]], e, a, b)


def measure(case: Case, configs: list[int], rounds: int) -> dict[str, Any]:
    import grouped_triton as opponents

    forward = case.kind == "forward"
    e = case.experts()
    host = [0, *torch.bincount(e.long(), minlength=EXPERTS).cumsum(0).tolist()]
    ends = torch.tensor(host[1:], dtype=torch.int32, device="cuda")
    x = torch.randn(case.rows, case.k, device="cuda", dtype=torch.bfloat16)
    a = x if forward else torch.randn(case.rows, case.n, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(EXPERTS, case.n, case.k, device="cuda", dtype=torch.bfloat16) if forward else x
    order = torch.randperm(case.rows, device="cuda")
    ours, ours_error = bound(case, e, a, b)
    shuffled, shuffled_error = bound(case, e[order], a[order], b if forward else b[order])
    out = torch.empty_like(ours.tensors["y" if forward else "dw"])
    table = opponents.forward_configs() if forward else opponents.gradient_configs()
    call = that_run(
        {
            i: opponents.forward_call(table[i], a, b, out, ends, host, 132)
            if forward
            else opponents.gradient_call(table[i], a, b, out, ends, 132)
            for i in configs
        }
    )
    tuned = medians(call, 3)
    best = sorted(tuned, key=lambda i: tuned[i])[:3]
    out.zero_()
    call[best[0]]()
    triton_error = error(case.kind, out, e, a, b)
    grouped = (
        (lambda: torch._grouped_mm(a, b.transpose(1, 2), offs=ends))
        if forward
        else (lambda: torch._grouped_mm(a.t(), b, offs=ends))
    )
    torch_error = error(case.kind, grouped(), e, a, b)
    times = medians({"ours": ours, "shuffled": shuffled, "torch": grouped, **{i: call[i] for i in best}}, rounds)
    ours.close(), shuffled.close()
    fastest = min(best, key=lambda i: times[i])
    kernel, meta, options = table[fastest]
    sizes = f"groups of {min(z - y for y, z in zip(host, host[1:]))} to {max(z - y for y, z in zip(host, host[1:]))}"
    result = {
        "work": "grouped bf16 product" if forward else "grouped weight gradient",
        "shape": f"{case.rows} rows, N {case.n}, K {case.k}, {case.shares}: {sizes}"
        + (f" ({case.seed})" if case.shares == "drawn" else ""),
        "ratio": times[fastest] / times["ours"],
        "bar": BAR * (DRAWN if case.shares == "drawn" else 1),
        "of": "Triton",
        "how": "gemm()",
        "ms": times["ours"],
        "TFLOP/s": 2e-9 * case.rows * case.n * case.k / times["ours"],
        "error": ours_error,
        "shuffled error": shuffled_error,
        "triton ms": times[fastest],
        "torch ms": times["torch"],
        "shuffled ms": times["shuffled"],
        "triton error": triton_error,
        "torch error": torch_error,
        "triton by": f"{kernel.__name__} {meta} {options}",
    }
    if max(ours_error, shuffled_error) > WRONG:
        result["failed"] = f"wrong: errors {ours_error:.1e}, shuffled {shuffled_error:.1e}"
    return result


def prepare(quick: bool, every_case: list[Case]) -> list[tuple[str, int]]:
    """Compiles all kernels, several at a time; returns the Triton configurations that run."""
    import grouped_triton as opponents

    tables = {"forward": opponents.forward_configs(), "gradient": opponents.gradient_configs()}
    tiles = opponents.TILES[:QUICK_TILES] if quick else opponents.TILES
    every = [
        (kind, i)
        for kind, table in tables.items()
        for i, (_, meta, options) in enumerate(table)
        if (meta["BM"], meta["BN"], meta["BK"], options["num_stages"], options["num_warps"]) in tiles
    ]
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        ours = pool.map_async(compile_ours, every_case, chunksize=1)
        right = [
            task
            for share in pool.map(compile_share, [every[i::PROCESSES] for i in range(PROCESSES)], chunksize=1)
            for task in share
        ]
        ours.get()
    harness.say(f"{len(right)} of {len(every)} Triton configurations run")
    opponents.use_allocator()
    return right


def main() -> None:
    args = harness.arguments(__doc__)
    every_case = cases(args.quick, args.seed)
    right = prepare(args.quick, every_case)
    harness.say(
        "work                     shape   ours ms  TFLOP/s  Triton ms  ratio  bar  torch ms  shuffled ms  errors: "
        "ours, shuffled, Triton, torch"
    )
    results = []
    for case in every_case:
        r = measure(case, [i for kind, i in right if kind == case.kind], 11)
        results.append(r)
        harness.save(args, results)
        harness.say(
            f"{r['work']:24} {r['shape']}  {r['ms']:.4f} {r['TFLOP/s']:5.0f}  {r['triton ms']:.4f}  {r['ratio']:.3f} "
            f"{r['bar']:g} {'met' if r['ratio'] >= r['bar'] else 'MISSED'}  {r['torch ms']:.4f}  "
            f"{r['shuffled ms']:.4f}  {r['error']:.1e} "
            f"{r['shuffled error']:.1e} {r['triton error']:.1e} {r['torch error']:.1e}  {r['triton by']} "
            f"{r.get('failed', '')}"
        )
    missed = [r for r in results if "failed" in r or r["ratio"] < r["bar"]]
    harness.say(f"{len(results) - len(missed)} of {len(results)} bars are met")
    if missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
