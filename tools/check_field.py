#!/usr/bin/env python3
"""Checks modules as people have them (tests/modules): each is imported, its equations are interpreted and compared with
eager PyTorch, outputs and updated buffers alike, and its kernels are planned.

    tools/check_field.py --binary build/tests/import_check [--quick] [--solstice build/bin/solstice] [--json] [FILE ...]

Values: in float64, flat and folded, on the families of values below (FAMILIES), within 1e-9 of the largest value where
the graph holds no narrower floats and NARROW elsewhere; and in the file's own dtypes, within NARROW. Modules that
behave otherwise in training mode are compared in both modes. With --quick in float64 and evaluation mode alone.
With --solstice each file also goes through `optimize --eval --device model`, one trial: the outcome, how many kernels
the candidate has, its families, and the reason where it has none. Of a module that is cut (docs/partial.md) the kernels
of the parts that are ours count, and how many of all parts these are is shown.

FILE is a file, or a word of its path; all of tests/modules by default. Exit status 1 if values differ, an import ends
with an internal error, or a file has neither a kernel nor a reason.
"""

from __future__ import annotations

import argparse
import collections
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Callable, Iterator

import torch
from torch.utils import _pytree as pytree

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]

import check_import  # noqa: E402
from check_problems import cpu_seconds, is_real, randomise  # noqa: E402

from solstice.errors import OracleError  # noqa: E402
from solstice.loading import Subject, load_file  # noqa: E402

MODULES = ROOT / "tests" / "modules"
NARROW = 5e-4  # of the largest value, where PyTorch rounds to f32
TRIES = "120s,1trials"  # the trial ends it; the time is for what hangs, on a busy machine too

# Of the float inputs: as the file makes them, anew with the other sign, and of few values, so that many are equal.
FAMILIES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "as given": lambda x: x,
    "other sign": lambda x: -x,
    "ties": lambda x: (2 * x).round() / 2,
}
# PyTorch leaves the order of equal elements open.
OPEN_TIES = {f"aten.{name}" for name in ("topk.default", "sort.default", "argsort.default", "kthvalue.default")}
OPEN_TIES |= {"aten.median.dim", "aten.mode.default"}


@dataclass
class Row:
    name: str
    imports: str = "yes"  # or the operators without equations, or why it is refused
    values: str = ""  # agree, or what differs
    outcome: str = ""  # of `optimize`
    kernels: int = 0
    families: dict[str, int] = field(default_factory=dict)
    parts: str = ""  # "2 of 8" of a module that is cut: those that are ours
    reason: str = ""
    seconds: float = 0.0  # of CPU time

    def good(self, planned: bool) -> bool:
        ended = not self.outcome.startswith(("exit code", "internal error"))
        return self.values in ("agree", "") and (not planned or ended and bool(self.kernels or self.reason))


def files_of(words: list[str]) -> list[Path]:
    if not words:
        return sorted(MODULES.glob("*/*.py"))
    named = [Path(word).resolve() for word in words if word.endswith(".py")]  # planned from another folder
    return named + [f for f in sorted(MODULES.glob("*/*.py")) if any(w in str(f) for w in words if w[-3:] != ".py")]


def load(file: Path, dtype: torch.dtype, mode: str) -> Subject:
    torch.set_default_dtype(dtype)
    subject = load_file(str(file), mode=mode)
    if dtype == torch.float64:
        subject.module.double()
        for tensor in (*subject.module.parameters(), *subject.module.buffers()):
            if tensor.is_complex():
                tensor.data = tensor.data.to(torch.complex128)
    return subject


def arguments(subject: Subject, family: str, dtype: torch.dtype, seed: int) -> tuple[tuple, dict]:
    torch.manual_seed(seed)
    change = FAMILIES[family]
    return pytree.tree_map(lambda v: change(v).to(dtype) if is_real(v) else v, subject.inputs())


def differs_by_mode(module: torch.nn.Module) -> bool:
    kinds = (torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._BatchNorm)
    return any(isinstance(m, kinds) for m in module.modules())


def tolerance_of(graph: dict) -> float:
    dtypes = {out["dtype"] for node in graph["nodes"] for out in node["outs"] if out and "dtype" in out}
    return NARROW if dtypes & {"f32", "bf16", "f16"} else check_import.TOLERANCE


def compare(binary: str, file: Path, dtype: torch.dtype, mode: str, families: list[str]) -> Iterator[str]:
    """What differs, and what is missing as `missing: OPERATORS`."""
    subject = load(file, dtype, mode)
    module = subject.module
    args, kwargs = arguments(subject, "as given", dtype, 1)
    graph = check_import.decomposed(binary, module, args, kwargs)
    missing = check_import.imported(binary, graph)["unsupported"]
    if missing:
        yield "missing: " + "; ".join(sorted(set(missing)))
        return
    if graph["rng"]:  # PyTorch's draws and results of the trace
        found = check_import.compare(binary, graph, module, args, kwargs, tolerance_of(graph))
        if found:
            yield f"{mode}, {dtype}, with draws: {found}"
        return
    torch.manual_seed(2)
    randomise(module, {o["target"] for o in graph["outputs"] if o["kind"] == "buffer_mutation"})
    if OPEN_TIES & {node["op"] for node in graph["nodes"]}:
        families = [family for family in families if family != "ties"]
    for seed, family in enumerate(families):
        args, kwargs = arguments(subject, family, dtype, 3 + seed)
        if family != "as given" and not takes(module, args, kwargs):
            continue
        forms = check_import.FORMS if seed == 0 else check_import.FORMS[:1]
        found = check_import.compare(binary, graph, module, args, kwargs, tolerance_of(graph), forms)
        if found:
            yield f"{mode}, {dtype}, {family}: {found}"


def takes(module: torch.nn.Module, args: tuple, kwargs: dict) -> bool:
    """PyTorch refuses some values: of targets beyond 0 and 1, say."""
    try:
        with torch.no_grad():
            copy.deepcopy(module)(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    except (RuntimeError, ValueError, IndexError):
        return False
    return True


def check_values(binary: str, file: Path, row: Row, quick: bool) -> None:
    found = list(settled(binary, file, row, torch.float64, "eval", list(FAMILIES)))
    if not quick:
        found += settled(binary, file, row, torch.float32, "eval", ["as given"])
    missing = [f for f in found if f.startswith("missing: ")]
    if missing:
        row.imports = missing[0]
    elif not quick and row.imports == "yes" and differs_by_mode(load(file, torch.float32, "eval").module):
        trained = settled(binary, file, row, torch.float64, "train", ["as given"])
        found += (f for f in trained if not f.startswith("missing: "))  # a draw inside of an operator, say
    row.values = "; ".join(f for f in found if f not in missing) or ("agree" if row.imports == "yes" else "")


def settled(binary: str, file: Path, row: Row, dtype: torch.dtype, mode: str, families: list[str]) -> Iterator[str]:
    try:
        yield from compare(binary, file, dtype, mode, families)
    except OracleError as error:
        row.imports, row.reason = "refused", "; ".join(text for text in (error.message, error.hint) if text)
    except Exception as error:  # a file that breaks is a failure like any other
        if isinstance(error, check_import.Unsupported):
            row.imports, row.reason = "refused", str(error)
        else:
            yield f"{mode}, {dtype}: {type(error).__name__}: {error}"


def plan(solstice: str, file: Path, row: Row) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            solstice,
            "optimize",
            str(file),
            "--eval",
            "--device",
            "model",
            "--budget",
            TRIES,
            "--quiet",
            "--json",
        ]
        command += ["--store", f"{folder}/store", "--out", f"{folder}/out"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment())
        text = "\n".join(program.read_text() for program in sorted(Path(folder, "out").rglob("program.ucut")))
    if done.returncode:
        row.outcome = "internal error" if done.returncode == 70 else f"exit code {done.returncode}"
        row.reason = row.reason or ("" if done.returncode == 70 else done.stderr.strip().split("\n")[-1])
        return
    report = json.loads(done.stdout)["report"]
    row.outcome, row.reason = report["outcome"], report["reason"]
    ours = [part["ours"] for part in report["parts"]]
    row.parts = f"{sum(ours)} of {len(ours)}" if ours else ""
    row.families = dict(collections.Counter(re.findall(r"^kernel \w+ (?:once )?by (\w+)", text, re.M)))
    row.kernels = sum(count for family, count in row.families.items() if family not in ("torch", "cuda"))


def environment() -> dict[str, str]:
    return {"SOLSTICE_PYTHON": sys.executable, **os.environ, "PYTHONPATH": str(ROOT / "python")}


def check(binary: str, solstice: str, file: Path, quick: bool) -> Row:
    row, start = Row(f"{file.parent.name}/{file.stem}"), cpu_seconds()
    check_values(binary, file, row, quick)
    if solstice:
        plan(solstice, file, row)
    row.seconds = cpu_seconds() - start
    return row


def show(row: Row) -> None:
    families = " ".join(f"{name} {count}" for name, count in row.families.items())
    shown = f"import {row.imports}, values {row.values or '-'}"
    if row.outcome:
        shown += f", {row.outcome}, {row.kernels} kernels ({families})"
        shown += f" in {row.parts} parts" if row.parts else ""
        shown += "" if row.kernels else f": {row.reason}"
    elif row.imports == "refused":
        shown += f": {row.reason}"
    print(f"{row.name}: {shown}, {row.seconds:.1f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="the built import_check")
    parser.add_argument("--solstice", default="", help="the built program: plan kernels too")
    parser.add_argument("--quick", action="store_true", help="in float64 and evaluation mode alone")
    parser.add_argument("--json", action="store_true", help="print one JSON value instead of lines")
    parser.add_argument("names", nargs="*", help="files, or words of their paths; all of tests/modules by default")
    options = parser.parse_args()
    rows, solstice = [], os.path.abspath(options.solstice) if options.solstice else ""
    for file in files_of(options.names):
        rows.append(check(options.binary, solstice, file, options.quick))
        if not options.json:
            show(rows[-1])
    good = sum(row.good(bool(options.solstice)) for row in rows)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        with_kernels = f", {sum(row.kernels > 0 for row in rows)} with a kernel" if options.solstice else ""
        agree = sum(row.values == "agree" for row in rows)
        print(f"{agree} of {len(rows)} agree{with_kernels}, {cpu_seconds():.0f} s of CPU time")
        print(f"{good} passed, {len(rows) - good} failed")
    return 0 if rows and good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
