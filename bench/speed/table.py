#!/usr/bin/env python3
"""Runs the scripts of this folder and prints one Markdown table of what was reached: the one command that makes the
speed tables of docs/results.md anew.

    python3 bench/speed/table.py [elementwise rows scan gemm grouped] [--quick] [--seed N] [--json FILE] [--from FILE]

Interrupted (Ctrl-C), it prints and keeps the rows measured so far. Exit code 1: a script failed, a row has no figure,
or a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).resolve().parent
SCRIPTS = ("elementwise", "rows", "scan", "gemm", "grouped")
Row = dict[str, Any]


def output_of(script: str, args: argparse.Namespace, folder: Path) -> tuple[Row, bool]:
    """What the script left, even where it ended with an error, and whether the user interrupted it. Its lines go to
    stderr."""
    target = folder / f"{script}.json"
    command = [sys.executable, str(HERE / f"{script}.py"), "--json", str(target), "--seed", str(args.seed)]
    interrupted = False
    try:
        done = subprocess.run(command + (["--quick"] if args.quick else []), stdout=sys.stderr)
        ended = f"ended with code {done.returncode}" if done.returncode else ""
    except KeyboardInterrupt:
        interrupted, ended = True, "was interrupted"
    found: Row = json.loads(target.read_text()) if target.exists() else {"machine": {}, "results": []}
    if interrupted or ended and not any("failed" in r for r in found["results"]):
        found["results"].append({"work": script, "shape": "", "failed": f"{script}.py {ended}"})
    return found, interrupted


def outputs_of(args: argparse.Namespace) -> list[Row]:
    """Of one script after the other, until the user stops them."""
    parts: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="speed-") as folder:
        for script in args.scripts:
            part, interrupted = output_of(script, args, Path(folder))
            parts.append(part)
            if interrupted:
                break
    return parts


def met(row: Row) -> Optional[bool]:
    if "failed" in row:
        return False
    if row.get("bar") is None:
        return None
    return row["ratio"] >= row["bar"] and row.get("floor", 0.0) <= row.get("speedup", 1.0)


def rate(row: Row) -> str:
    return next((f"{row[unit]:.3g} {unit}" for unit in ("TB/s", "TFLOP/s") if unit in row), "")


def cells(row: Row) -> list[str]:
    bar = "" if row.get("bar") is None else f"{row['bar']:g} of {row['of']}"
    name = f"{row['work']}, {row['shape']}"
    if "failed" in row:
        return [name, bar, "", "", "", row["failed"].splitlines()[0]]
    got = f"{row['ratio']:.3f}"
    if row.get("best ratio", row["ratio"]) > row["ratio"]:
        got += f" ({row['best ratio']:.3f} by {row['best how']})"
    eager = f"{row['speedup']:.2f}x" if "speedup" in row else ""
    error = (
        f"{row['error']:.1e}" + (f" ({row['eager error']:.1e})" if "eager error" in row else "")
        if "error" in row
        else ""
    )
    return [
        name,
        bar,
        got if met(row) is not False else f"**{got}**",
        f"{row['ms']:.4g} ms, {rate(row)}" if "ms" in row else rate(row),
        eager,
        error,
        row["how"],
    ]


def markdown(rows: list[Row]) -> str:
    head = ["work", "bar", "got", "time", "of eager", "error (eager's)", "how"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for row in rows:
        fields = cells(row)
        fields[-1:-1] = [""] * (len(head) - len(fields))
        lines.append("| " + " | ".join(field.replace("|", "\\|") for field in fields) + " |")
    judged = [row for row in rows if met(row) is not None]
    lines.append(f"\n{sum(met(row) is True for row in judged)} of {len(judged)} bars are met.")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help="which; all by default", default=list(SCRIPTS))
    parser.add_argument("--quick", action="store_true", help="a few rows of each, within a minute a script")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE", help="keep all results there")
    parser.add_argument(
        "--from", metavar="FILE", dest="source", help="print the table of such a file again; nothing is run"
    )
    args = parser.parse_args()
    unknown = [s for s in args.scripts if s not in SCRIPTS]
    if unknown:
        parser.error(f"no script {', '.join(unknown)}; there are {', '.join(SCRIPTS)}")
    if args.source:
        merged = json.loads(Path(args.source).read_text())
    else:
        parts = outputs_of(args)
        machine = next((p["machine"] for p in parts if p["machine"]), {})
        merged = {
            "machine": machine,
            "seed": args.seed,
            "quick": args.quick,
            "results": [r for p in parts for r in p["results"]],
        }
        if args.json:
            Path(args.json).write_text(json.dumps(merged, indent=1) + "\n")
    print(", ".join(str(v) for v in merged["machine"].values()) + "\n\n" + markdown(merged["results"]))
    return 0 if all(met(row) is not False for row in merged["results"]) else 1


if __name__ == "__main__":
    sys.exit(main())
