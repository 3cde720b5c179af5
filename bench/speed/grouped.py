#!/usr/bin/env python3
"""Grouped bf16 products of 16 experts with ragged rows, and the gradient of their weights, against Triton kernels that are
tuned here over tiles, stages, warps and structure (bench/kernels/grouped_triton.py), and against torch._grouped_mm.

Ours starts from an expert number a row, sorts rows by it on the device and pays for that here; the others are given the
rows sorted, the groups' offsets, and Triton a list of tiles. Times are medians of turns (all in order, then in reverse),
each after 512 MB were written. `shuffled`: ours, where rows are in no order.

    python3 bench/speed/grouped.py [--quick]
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import sys
from pathlib import Path
from typing import Any, Callable

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "kernels")]

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


def compile_share(which: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Runs configurations on something small, which leaves them in Triton's cache; returns those that are right."""
    import torch

    import grouped_triton as opponents

    opponents.use_allocator()
    torch.manual_seed(0)
    host = [0, 200, 512]
    offsets = torch.tensor(host, dtype=torch.int32, device="cuda")
    x, dy = (torch.randn(512, 512, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    w = torch.randn(2, 512, 512, device="cuda", dtype=torch.bfloat16)
    wanted = {"forward": torch.cat([x[a:b].float() @ w[g].float().T for g, (a, b) in enumerate(((0, 200), (200, 512)))]),
              "gradient": torch.stack([dy[a:b].float().T @ x[a:b].float() for a, b in ((0, 200), (200, 512))])}  # fmt: skip
    right = []
    for kind, i in which:
        out = torch.zeros(wanted[kind].shape, device="cuda", dtype=torch.bfloat16)
        try:
            if kind == "forward":
                opponents.forward_call(opponents.forward_configs()[i], x, w, out, offsets, host, 132)()
            else:
                opponents.gradient_call(opponents.gradient_configs()[i], dy, x, out, offsets, 132)()
            error = ((out.float() - wanted[kind]).norm() / wanted[kind].norm()).item()
        except Exception as reason:  # more shared memory than there is, say: the configuration is out
            if "out of resource" not in str(reason) and type(reason).__name__ not in ("OutOfResources", "CompilationError"):
                raise
            continue
        if error < 5e-3:
            right.append((kind, i))
    return right


def medians(works: dict[Any, Callable[[], Any]], rounds: int) -> dict[Any, float]:
    """Milliseconds. Nothing waits in between: while L2 is flushed, the next launch is on its way."""
    import torch

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


def experts_of(rows: int, skewed: bool) -> Any:
    """An expert for each row, sorted. Skewed: Zipf's law with exponent 1.2, and one expert without rows."""
    import torch

    torch.manual_seed(rows + skewed)
    share = 1.0 / torch.arange(1, EXPERTS + 1).float() ** 1.2 if skewed else torch.ones(EXPERTS)
    share = share[torch.randperm(EXPERTS)]
    if skewed:
        share[3] = 0
    return torch.multinomial(share, rows, replacement=True).sort()[0].int().cuda()


def reference(kind: str, e: Any, a: Any, b: Any) -> Any:
    import torch

    groups = [(e == g).nonzero().flatten() for g in range(EXPERTS)]
    if kind == "gradient":
        return torch.stack([a[r].float().T @ b[r].float() for r in groups])
    out = torch.zeros(a.shape[0], b.shape[1], device="cuda")
    for g, r in enumerate(groups):
        out[r] = a[r].float() @ b[g].float().T
    return out


def measure(kind: str, rows: int, n: int, k: int, skewed: bool, configs: list[int], rounds: int) -> dict[str, Any]:
    import torch

    import grouped_triton as opponents
    import harness

    e = experts_of(rows, skewed)
    host = [0, *torch.bincount(e.long(), minlength=EXPERTS).cumsum(0).tolist()]
    offsets = torch.tensor(host, dtype=torch.int32, device="cuda")
    x = torch.randn(rows, k, device="cuda", dtype=torch.bfloat16)
    forward = kind == "forward"
    a = x if forward else torch.randn(rows, n, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(EXPERTS, n, k, device="cuda", dtype=torch.bfloat16) if forward else x
    wanted = reference(kind, e, a, b)

    def error(out: Any, against: Any = wanted) -> float:
        return ((out.float() - against).norm() / against.norm()).item()

    result: dict[str, Any] = {"work": kind, "rows": rows, "n": n, "k": k, "rows of experts": "skewed" if skewed else "multinomial"}
    works: dict[Any, Callable[[], Any]] = {}
    names = ("x", "w", "y") if forward else ("dy", "x", "dw")
    order = torch.randperm(rows, device="cuda")
    programs = []
    for name, at in (("ours", torch.arange(rows, device="cuda")), ("shuffled", order)):
        program = harness.Program(TEXT[kind].format(rows=rows, n=n, k=k, experts=EXPERTS))
        program.bind({names[0]: a[at].contiguous(), names[1]: b if forward else b[at].contiguous(), "e": e[at].contiguous()})
        program()
        out = program.tensors[names[2]]
        result[f"error {name}"] = error(out, wanted[at] if forward else wanted)
        works[name] = program
        programs.append(program)
    out = torch.empty(wanted.shape, device="cuda", dtype=torch.bfloat16)
    table = opponents.forward_configs() if forward else opponents.gradient_configs()
    call = {i: opponents.forward_call(table[i], a, b, out, offsets, host, 132) if forward else
            opponents.gradient_call(table[i], a, b, out, offsets, 132) for i in configs}  # fmt: skip
    tuned = medians(call, 3)
    best = sorted(tuned, key=tuned.get)[:3]
    call[best[0]]()
    result["error triton"] = error(out)
    for i in best:
        works[("triton", i)] = call[i]
    grouped = (lambda: torch._grouped_mm(a, b.transpose(1, 2), offs=offsets[1:])) if forward else (lambda: torch._grouped_mm(a.t(), b, offs=offsets[1:]))
    result["error torch"] = error(grouped())
    works["torch"] = grouped
    times = medians(works, rounds)
    fastest = min(best, key=lambda i: times[("triton", i)])
    kernel, meta, options = table[fastest]
    result |= {
        "ours ms": times["ours"], "triton ms": times[("triton", fastest)], "torch ms": times["torch"], "shuffled ms": times["shuffled"],
        "TFLOP/s": 2e-9 * rows * n * k / times["ours"], "ratio": times[("triton", fastest)] / times["ours"],
        "triton by": f"{kernel.__name__} {meta} {options}",
    }  # fmt: skip
    for program in programs:
        program.close()
    return result


def main() -> None:
    import torch

    import grouped_triton as opponents
    import harness

    quick = "--quick" in sys.argv
    torch.backends.cuda.matmul.allow_tf32 = False
    every = [("forward", i) for i in range(len(opponents.forward_configs()))] + [("gradient", i) for i in range(len(opponents.gradient_configs()))]
    processes = 14
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        right = [task for share in pool.map(compile_share, [every[i::processes] for i in range(processes)], chunksize=1) for task in share]
    harness.say(f"{len(right)} of {len(every)} Triton configurations run")
    opponents.use_allocator()
    results = []
    harness.say("work     rows    N     K    rows of experts  ours ms  TFLOP/s  triton ms  ratio  torch ms  shuffled ms  errors (ours, triton, torch)")
    for n, k in MATRICES[: 1 if quick else None]:
        for rows in ROWS:
            for skewed in (False, True):
                for kind in ("forward", "gradient"):
                    r = measure(kind, rows, n, k, skewed, [i for task, i in right if task == kind], 11)
                    results.append(r)
                    harness.say(f"{kind:8} {rows:6} {n:5} {k:5}  {r['rows of experts']:15} {r['ours ms']:8.4f} {r['TFLOP/s']:8.0f} {r['triton ms']:10.4f} "
                                f"{r['ratio']:6.3f} {r['torch ms']:9.4f} {r['shuffled ms']:12.4f}  {r['error ours']:.1e} {r['error triton']:.1e} "
                                f"{r['error torch']:.1e} {r['triton by']}")  # fmt: skip
                    if max(r["error ours"], r["error shuffled"]) > 5e-3:
                        sys.exit("wrong result")
    (harness.results_folder() / "grouped.json").write_text(json.dumps({"machine": harness.machine(), "results": results}, indent=1))


if __name__ == "__main__":
    main()
