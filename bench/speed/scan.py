#!/usr/bin/env python3
"""Prefix sums and products and linear recurrences against the copy ceiling and PyTorch.

A row's `copy` is the time of a device-to-device copy that moves as many bytes as the scan must read and write, over the
scan's; both are taken in the same turns (harness.py). The bar of issue 5 is 0.85, and never slower than eager. Errors are
normwise against float64, over the first elements of the outermost axis (at most 2^26 elements, where a row is no longer).

    python3 bench/speed/scan.py [--quick] [--json FILE] [--seed N] [--only WORD] [--knobs 'threads=512, items=16']
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch  # noqa: E402

import harness  # noqa: E402

BAR = 0.85
LARGEST_CHECK = 1 << 26  # elements

# The right sides over j (or the row itself), with the declarations they need beside x and y.
FORMS = {
    "sum": "sum[j where j <= n](x[{j}])",
    "exclusive": "sum[j where j < n](x[{j}])",
    "reverse": "sum[j where j >= n](x[{j}])",
    "masked": "sum[j where j <= n and keep[{j}]](x[{j}])",
    "product": "prod[j where j <= n](x[{j}])",
    "recurrence": "a[{n}] * y[{before} else 0] + x[{n}]",
}
EXTRA = {"masked": "input keep : bool[{dims}]\n", "recurrence": "input a : {dtype}[{dims}]\n"}


@dataclass
class Case:
    name: str
    form: str
    rows: int
    length: int
    inner: int = 1  # neighbours that belong to other rows: the axis is not innermost
    dtype: str = "f32"

    @property
    def shape(self) -> list[int]:
        return [self.rows, self.length] + ([self.inner] if self.inner > 1 else [])

    @property
    def bytes(self) -> int:
        element = torch.empty(0, dtype=harness.DTYPES[self.dtype]).element_size()
        extra = {"masked": 1, "recurrence": element}.get(self.form, 0)
        return self.rows * self.length * self.inner * (2 * element + extra)

    def text(self, knobs: str) -> str:
        tail = ",p" if self.inner > 1 else ""
        indices = {"n": "m,n" + tail, "j": "m,j" + tail, "before": "m,n-1" + tail}
        dims = "M, N" + (", P" if tail else "")
        right = FORMS[self.form].format(**indices)
        extra = EXTRA.get(self.form, "").format(dims=dims, dtype=self.dtype)
        return (
            f"program scan\ndim M = {self.rows}, N = {self.length}{f', P = {self.inner}' if tail else ''}\n"
            f"input x : {self.dtype}[{dims}]\n{extra}output y : {self.dtype}[{dims}]\n"
            f"kernel k by scan({knobs}) {{\n  y[{indices['n']}] = {right}\n}}\n"
        )


def fixed() -> list[Case]:
    return [
        Case("cumsum", "sum", 32768, 32768),
        Case("exclusive", "exclusive", 32768, 32768),
        Case("reverse", "reverse", 32768, 32768),
        Case("masked", "masked", 16384, 32768),
        Case("cumprod", "product", 16384, 32768),
        Case("rows of 100", "sum", 2_500_000, 100),
        Case("rows of 1000", "sum", 262_144, 1000),
        Case("odd length", "sum", 65536, 4095),
        Case("bf16", "sum", 16384, 32768, dtype="bf16"),
        Case("bf16, odd", "sum", 65536, 4097, dtype="bf16"),
        Case("few rows", "sum", 100, 2_600_000),
        Case("few rows, odd", "sum", 37, 7_000_001),
        Case("one row", "sum", 1, 1 << 28),
        Case("few rows, bf16, reverse", "reverse", 24, 10_000_000, dtype="bf16"),
        Case("middle axis", "sum", 64, 4096, 1024),
        Case("middle axis, odd", "sum", 50, 5000, 1001),
        Case("outer axis, few columns", "sum", 1, 2_000_000, 96),
        Case("recurrence", "recurrence", 16384, 16384),
        Case("recurrence, middle axis", "recurrence", 16, 8192, 2048),
        Case("recurrence, few rows", "recurrence", 64, 2_000_000),
    ]


def drawn(seed: int, count: int = 5) -> list[Case]:
    """Rows of 100 to a few million, about 256 Mi elements, of any form; the first is bf16, the second not innermost."""
    source = random.Random(seed)
    out = []
    for i in range(count):
        length = int(10 ** source.uniform(2, 6.6)) | 1
        inner = int(10 ** source.uniform(1.5, 3.5)) if i == 1 else 1
        rows = max(1, (1 << 28) // (length * inner))
        form = source.choice(["sum", "exclusive", "reverse", "masked", "product", "recurrence"])
        out.append(Case(f"drawn {i}", form, rows, length, inner, "bf16" if i == 0 else "f32"))
    return out


def inputs(case: Case) -> dict[str, torch.Tensor]:
    dtype = harness.DTYPES[case.dtype]
    x = torch.rand(case.shape, device="cuda", dtype=dtype)
    if case.form == "product":  # stays near 1
        x = 1 + (x - 0.5) / 64
    given = {"x": x}
    if case.form == "masked":
        given["keep"] = torch.rand(case.shape, device="cuda", dtype=torch.float16) < 0.5
    if case.form == "recurrence":
        given["a"] = torch.rand(case.shape, device="cuda", dtype=dtype)
    return given


def recurrence(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """By doubling along axis 1: after round i, (a, x) stand for the last 2^i steps."""
    a, x = a.clone(), x.clone()
    step = 1
    while step < x.shape[1]:
        x[:, step:] += a[:, step:] * x[:, :-step].clone()
        a[:, step:] *= a[:, :-step].clone()
        step *= 2
    return x


def eager(case: Case, given: dict[str, torch.Tensor]) -> Callable[[], torch.Tensor]:
    x = given["x"]
    if case.form == "sum":
        return lambda: torch.cumsum(x, 1)
    if case.form == "product":
        return lambda: torch.cumprod(x, 1)
    if case.form == "masked":
        return lambda: torch.cumsum(x * given["keep"], 1)
    if case.form == "reverse":
        return lambda: torch.cumsum(x.flip(1), 1).flip(1)
    if case.form == "exclusive":
        return lambda: torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), torch.cumsum(x.narrow(1, 0, x.shape[1] - 1), 1)), 1)
    return lambda: recurrence(given["a"], x)  # what PyTorch offers; a loop over the steps is slower still


def error(case: Case, given: dict[str, torch.Tensor], y: torch.Tensor) -> float:
    rows = max(1, min(case.rows, LARGEST_CHECK // (case.length * case.inner)))
    part = {name: t[:rows].double() if t.is_floating_point() else t[:rows] for name, t in given.items()}
    wanted = eager(case, part)()
    return ((y[:rows].double() - wanted).norm() / wanted.norm()).item()


def measure(case: Case, program: harness.Program, rounds: int) -> dict[str, Any]:
    given = inputs(case)
    program.bind(given)
    program()
    y = program.tensors["y"]
    first = y.clone()
    wrong = error(case, given, y)
    program()
    row: dict[str, Any] = {"case": case.name, "form": case.form, "shape": case.shape, "axis": 1, "dtype": case.dtype, "error": wrong}
    row["same bits"] = torch.equal(first.view(torch.uint8), y.view(torch.uint8))
    del first
    works = {"ours": program, "copy": harness.copy_of(case.bytes), "torch": eager(case, given)}
    row["error torch"] = error(case, given, works["torch"]())
    times = harness.side_by_side(works, rounds)
    row |= {f"{name} ms": seconds * 1e3 for name, seconds in times.items()}
    row |= {"TB/s": case.bytes / times["ours"] * 1e-12, "copy": times["copy"] / times["ours"], "bar": BAR}
    row |= {"to torch": times["torch"] / times["ours"]}
    return row


def built(case: Case, knobs: str) -> Any:
    try:
        return harness.Program(case.text(knobs))
    except RuntimeError as reason:  # a row of the table says so
        return str(reason)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="three rounds of each, not eight; under a minute")
    options.add_argument("--json", type=Path, default=None, help="default: scan.json in $OUT or runs/speed")
    options.add_argument("--seed", type=int, default=1, help="of the five random shapes")
    options.add_argument("--only", default="", help="cases whose name has this word")
    options.add_argument("--knobs", default="", help="of every kernel, as in `by scan(...)`")
    chosen = options.parse_args()
    torch.manual_seed(0)
    cases = [case for case in fixed() + drawn(chosen.seed) if chosen.only in case.name]
    harness.say(f"{'case':26} {'form':10} {'shape':22} {'dtype':5} {'ms':>8} {'TB/s':>5} {'copy':>5} {'torch ms':>9} {'ratio':>6}  error (torch's)")
    results = []
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for case, program in zip(cases, pool.map(lambda case: built(case, chosen.knobs), cases)):
            if isinstance(program, str):
                results.append({"case": case.name, "form": case.form, "shape": case.shape, "dtype": case.dtype, "refused": program})
                harness.say(f"{case.name:26} {case.form:10} refused: {program.splitlines()[0]}")
                continue
            row = measure(case, program, 3 if chosen.quick else 8)
            program.close()
            torch.cuda.empty_cache()
            results.append(row)
            shape = "x".join(str(n) for n in case.shape)
            harness.say(f"{case.name:26} {case.form:10} {shape:22} {case.dtype:5} {row['ours ms']:8.3f} {row['TB/s']:5.2f} {row['copy']:5.3f} "
                        f"{row['torch ms']:9.3f} {row['to torch']:6.2f}  {row['error']:.1e} ({row['error torch']:.1e})"
                        f"{'' if row['same bits'] else '  differs from launch to launch'}")  # fmt: skip
    out = chosen.json or harness.results_folder() / "scan.json"
    out.write_text(json.dumps({"machine": harness.machine(), "results": results}, indent=1))


if __name__ == "__main__":
    main()
