#!/usr/bin/env python3
"""Times the programs that `compare_emitted.py --pack DIR` wrote, with the device code of both builds in turns.

    tools/time_emitted.py DIR [--bundle BUNDLE] [--match TEXT] [--rounds N] [--above PERCENT] [--limit SECONDS]
        [--json FILE]

Both plans of a program run on the same inputs, outputs and workspace: N rounds (16) of before, after, after, before,
each a CUDA graph of as many runs as last a millisecond. A row is one program: median time of a run before and after in
microseconds, their ratio, and its spread (half the distance of the quartiles of the rounds' ratios, in percent). A
program whose ratio is above 1 + PERCENT (1 %) by more than its spread is measured again with four times the rounds, and
listed if it stays so. Outputs are compared bit for bit where a program gives the same ones twice by itself. Needs a GPU
and PyTorch. Exit code 1: a program is slower, gives another result, or does not run.
"""

import argparse
import itertools
import json
import statistics
import sys
import time
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "bool": torch.bool,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
}


def storage_elements(buffer):
    return 1 + sum((extent - 1) * stride for extent, stride in zip(buffer["shape"], buffer["strides"], strict=True))


def filled(buffer, groups, generator):
    """Values of one interface buffer: floats around 0, integers that name one of `groups` groups."""
    dtype, count = DTYPES[buffer["dtype"]], max(1, storage_elements(buffer))
    if buffer["kind"] == "output":
        return torch.zeros(count, dtype=dtype, device="cuda")
    if dtype.is_floating_point:
        return (torch.randn(count, device="cuda", generator=generator) * 0.5).to(dtype)
    return torch.randint(0, 2 if dtype == torch.bool else groups, (count,), device="cuda", generator=generator).to(
        dtype
    )


class Side:
    """One build's plan of a program, bound to tensors."""

    def __init__(self, rt, library, folder, tensors, workspace):
        self.plan = rt.Plan(library, str(folder / "plan.json"), len(tensors), list(range(len(tensors))))
        if self.plan.workspace_bytes > workspace.numel():
            workspace = torch.zeros(self.plan.workspace_bytes, dtype=torch.uint8, device="cuda")
        self.workspace, self.rt = workspace, rt
        self.addresses = b"".join(t.data_ptr().to_bytes(8, "little") for t in tensors)
        self.launcher = self.on(torch.cuda.current_stream())
        self.launcher.prepare(self.addresses)

    def on(self, stream):
        return self.rt.Launcher(self.plan, self.workspace.data_ptr(), stream.cuda_stream)

    def launch(self):
        self.launcher.launch(self.addresses)

    def graph(self, runs):
        """A CUDA graph of `runs` runs."""
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            launcher = self.on(torch.cuda.current_stream())
            for _ in range(runs):
                launcher.launch(self.addresses)
        return graph


def interface(plan):
    return [b for b in plan["buffers"] if b["kind"] in ("input", "output", "param", "state")]


def milliseconds(work):
    """Device time of each of the calls `work`, in one queue."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(len(work) + 1)]
    torch.cuda.synchronize()
    marks[0].record()
    for call, mark in zip(work, marks[1:], strict=True):
        call()
        mark.record()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) for a, b in itertools.pairwise(marks)]


def durations(before, after, rounds):
    """[(before, after) of a round], microseconds of one run"""
    runs = max(2, min(200, round(1 / max(min(milliseconds([before.launch] * 4)), 1e-3))))
    graphs = before.graph(runs), after.graph(runs)
    for graph in graphs:
        graph.replay()
    times = milliseconds([graphs[i].replay for i in (0, 1, 1, 0) * rounds])
    scale = 1e3 / (2 * runs)
    rows = zip(*[iter(times)] * 4, strict=True)
    return [((a + d) * scale, (b + c) * scale) for a, b, c, d in rows]


def figures(pairs):
    """(before, after, ratio, spread in percent)"""
    ratios = sorted(after / before for before, after in pairs)
    quarter = len(ratios) // 4
    spread = (ratios[-1 - quarter] - ratios[quarter]) / 2
    middle = [statistics.median(side) for side in zip(*pairs, strict=True)]
    return middle[0], middle[1], statistics.median(ratios), 100 * spread


def outputs_of(side, tensors, plan):
    outputs = [t for t, b in zip(tensors, interface(plan), strict=True) if b["kind"] == "output"]
    for t in outputs:
        t.zero_()
    side.launch()
    torch.cuda.synchronize()
    return [t.view(torch.uint8).clone() for t in outputs]


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def measure(rt, library, folder, args):
    """The row of one program."""
    plan = json.loads((folder / "after/plan.json").read_text())
    generator = torch.Generator(device="cuda").manual_seed(1)
    groups = next((b["shape"][0] for b in interface(plan) if len(b["shape"]) == 3), 1)
    tensors = [filled(buffer, groups, generator) for buffer in interface(plan)]
    before = Side(rt, library, folder / "before", tensors, torch.zeros(0, dtype=torch.uint8, device="cuda"))
    after = Side(rt, library, folder / "after", tensors, before.workspace)
    first, again, new = (outputs_of(side, tensors, plan) for side in (before, before, after))
    limit, rounds = 1 + args.above / 100, args.rounds
    one, other, ratio, spread = figures(durations(before, after, rounds))
    if ratio - spread / 100 > limit:
        one, other, ratio, spread = figures(durations(before, after, 4 * rounds))
    return {
        "program": folder.name,
        "before_us": one,
        "after_us": other,
        "ratio": ratio,
        "spread_percent": spread,
        "equal": same(first, new) if same(first, again) else None,
        "slower": ratio - spread / 100 > limit,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bundle", type=Path, default=HERE.parent, help="where python/ and lib/ are")
    parser.add_argument("--match", default="", help="only programs whose name contains this")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--limit", type=float, default=1e9, help="stop after so many seconds, and say so")
    parser.add_argument("--json", type=Path, help="write every row here")
    parser.add_argument("--above", type=float, default=1.0, help="slower means: by more than so many percent")
    args = parser.parse_args()
    sys.path.insert(0, str(args.bundle / "python"))
    from solstice.dropin import rt

    library = rt.Library.open(str(next(args.bundle.rglob("libsolstice_rt.so"))))
    folders, rows, started = sorted(p for p in args.folder.iterdir() if args.match in p.name), [], time.monotonic()
    for done, folder in enumerate(folders):
        if time.monotonic() - started > args.limit:
            print(f"stopped after {args.limit:.0f} s: {done} of {len(folders)} programs were timed")
            break
        try:
            rows.append(measure(rt, library, folder, args))
        except (rt.DropinError, RuntimeError) as error:
            rows.append({"program": folder.name, "error": str(error).splitlines()[0]})
            if "CUDA error" in str(error) or "launching" in str(error):
                print(f"stopped at {folder.name}: {rows[-1]['error']}")
                break
        torch.cuda.empty_cache()
    if args.json:
        args.json.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return report(rows)


def report(rows):
    timed, errors = [r for r in rows if "ratio" in r], [r for r in rows if "error" in r]
    for row in errors:
        print(f"{row['program']}: {row['error']}")
    bad = [r for r in timed if r["slower"] or r["equal"] is False]
    for r in sorted(bad, key=lambda r: -r["ratio"]):
        result = "" if r["equal"] is not False else ", other results"
        print(
            f"{r['program']}: {r['before_us']:.2f} -> {r['after_us']:.2f} us, "
            f"{r['ratio']:.4f} +- {r['spread_percent']:.1f} %{result}"
        )
    if timed:
        ratios = sorted(r["ratio"] for r in timed)
        middle, (low, high) = statistics.geometric_mean(ratios), (ratios[0], ratios[-1])
        equal = sum(r["equal"] is True for r in timed)
        print(
            f"{len(timed)} programs: geometric mean of after / before {middle:.4f}, {low:.3f} to {high:.3f}; "
            f"{sum(r['slower'] for r in timed)} slower, {equal} with the same results bit for bit, "
            f"{sum(r['equal'] is None for r in timed)} that do not repeat their own"
        )
    return 1 if bad or errors else 0


if __name__ == "__main__":
    sys.exit(main())
