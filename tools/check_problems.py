#!/usr/bin/env python3
"""Imports every problem of a folder at its real sizes, and compares a smaller copy of it with PyTorch in float64.

    tools/check_problems.py --binary build/tests/import_check [--only TEXT] FOLDER

For each problem FOLDER/level*/*.py:
1. It is traced and imported, flat and folded, at its real sizes; the CPU time of that is counted apart.
2. Its sizes are shrunken in the source (tools/shrink_problem.py), and that module is built, traced and imported anew in
   float64. Parameters and written buffers get random values.
3. Both forms are interpreted, and every output and every updated buffer is compared with eager PyTorch; the flat one
   with two further families of values (FAMILIES) where that takes no more than seconds.
4. The flat program of the real sizes has to be that of the small ones, token by token, but for the values of dims; so
   what was compared is what runs. Where it is not, sizes equal in the file are kept equal. Other numbers that differ
   are printed.

Without FOLDER the environment's SOLSTICE_KERNELBENCH names it. Exit status 1 if a problem fails.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]

from check_import import TOLERANCE, difference, input_values, interpret  # noqa: E402
from shrink_problem import shrink  # noqa: E402

from solstice.loading import load_file  # noqa: E402
from solstice.tensors import DTYPES  # noqa: E402
from solstice.tracing import trace  # noqa: E402

# Whether float inputs are moved to both sides of zero, and what they and the parameters are multiplied by.
FAMILIES = {"both signs": (True, 1.0), "as given": (False, 1.0), "small": (True, 0.1)}
SLOW = 6.0  # seconds; then the other families are left out

_TOKEN = re.compile(r'"[^"]*"|[A-Za-z_]\w*|\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+|[^\s\w]')


@dataclass
class Verdict:
    import_seconds: float = 0.0
    opaque: list[str] = field(default_factory=list)
    sizes: dict[str, str] = field(default_factory=dict)
    differences: dict[str, Any] = field(default_factory=dict)  # of each form: numbers, or why it is another program
    families: list[str] = field(default_factory=list)
    worst: float = 0.0
    compared: int = 0
    failure: str = ""


def cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def imported(binary: str, graph: dict, folded: bool) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.json")
        path.write_text(json.dumps({k: v for k, v in graph.items() if k != "constants"}))
        done = subprocess.run([binary, *(["--folded"] if folded else []), str(path)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"import: {done.stderr.strip()}")
    return json.loads(done.stdout)


def tokens(text: str) -> list[str]:
    """Without comments and the values of dims; real numbers as f32 has them, f64 as f32."""
    out: list[str] = []
    in_dims = False
    for line in text.splitlines():
        for token in _TOKEN.findall(re.sub(r'#[^"]*$', "", line)):
            if token == "dim":
                token, in_dims = "," if in_dims else "dim", True
            elif token in ("param", "buffer", "input", "output", "tensor", "program", "def"):
                in_dims = False
            if "." in token[1:] or re.fullmatch(r"\d+e.*", token):
                token = repr(struct.unpack("f", struct.pack("f", float(token)))[0]) if token[0] != '"' else token
            elif in_dims and token.isdigit() and out[-1] == "=":
                token = "#"
            out.append({"f64": "f32"}.get(token, token))
    return out


def compare_texts(real: str, small: str) -> Any:
    a, b = tokens(real), tokens(small)
    if len(a) != len(b):
        return f"another program: {len(a)} and {len(b)} tokens"
    pairs = sorted({(x, y) for x, y in zip(a, b) if x != y})
    if any(not (x[0].isdigit() and y[0].isdigit()) for x, y in pairs):
        return f"another program: {[p for p in pairs if not p[0][0].isdigit()][:3]}"
    return [f"{x}/{y}" for x, y in pairs]


def randomise(module: torch.nn.Module, written: set[str]) -> None:
    """Fresh normalisations have scale 1, offset 0 and empty statistics, which would hide mistakes."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
        for name, buffer in module.named_buffers():
            if name in written:
                buffer.add_(torch.rand_like(buffer) if buffer.is_floating_point() else 3)


def is_real(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def flat_results(module: torch.nn.Module, graph: dict, args: list) -> list[torch.Tensor]:
    """Of eager PyTorch, in the graph's order. The module's buffers are as before afterwards."""
    saved = {name: value.clone() for name, value in module.named_buffers()}
    with torch.no_grad():
        results = iter(pytree.tree_leaves(module(*pytree.tree_map(lambda v: v.clone(), args))))
        after = dict(module.named_buffers())
        out = [(next(results) if o["kind"] == "user_output" else after[o["target"]]).clone() for o in graph["outputs"]]
        for name, value in module.named_buffers():
            value.copy_(saved[name])
    return out


def small_subject(source: str, name: str) -> tuple[torch.nn.Module, list, dict]:
    """The module, its arguments and its graph, all in float64, with the contents of constants."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(source)
        subject = load_file(str(path))
        subject.module.double()
        make = subject.inputs

        def doubled() -> Any:
            return pytree.tree_map(lambda v: v.double() if is_real(v) else v, make())

        subject.inputs = doubled
        graph = trace(subject, blob_dir=folder)
        graph["constants"] = {i["id"]: constant(i, folder) for i in graph["inputs"] if i["kind"] == "constant_tensor"}
    torch.manual_seed(1)
    return subject.module, list(doubled()[0]), graph


def constant(entry: dict, folder: str) -> torch.Tensor:
    data = entry["data"]
    held = base64.b64decode(data["base64"]) if "base64" in data else Path(folder, data["blob"]).read_bytes()
    return torch.frombuffer(bytearray(held), dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])


def compare_small(binary: str, module: torch.nn.Module, args: list, graph: dict, verdict: Verdict) -> None:
    randomise(module, {o["target"] for o in graph["outputs"] if o["kind"] == "buffer_mutation"})
    start, finite = cpu_seconds(), 0.0
    for family, (move, scale) in FAMILIES.items():
        if cpu_seconds() - start > SLOW:
            break
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.mul_(scale)
        given = pytree.tree_map(lambda v: scale * (2 * v - 1 if move else v) if is_real(v) else v, args)
        finite = max(finite, compare_once(binary, module, given, graph, not verdict.families, verdict))
        verdict.families.append(family)
    if finite < 0.5:
        verdict.failure = verdict.failure or "most of what PyTorch computes is not finite"


def compare_once(
    binary: str, module: torch.nn.Module, args: list, graph: dict, folded: bool, verdict: Verdict
) -> float:
    """The share of PyTorch's values that is finite."""
    wanted = flat_results(module, graph, args)
    values = list(input_values(graph, module, args, {}))
    for form in ([], ["--folded"]) if folded else ([],):
        for output, got, want in zip(graph["outputs"], interpret([binary, *form], graph, values), wanted):
            worst = difference(got, want)
            verdict.worst = max(verdict.worst, worst)
            if not worst <= TOLERANCE:
                verdict.failure = f"{output['kind']} {output.get('target', '')} differs by {worst:.3g} {' '.join(form)}"
    verdict.compared += sum(w.numel() for w in wanted)
    return sum(int(w.isfinite().sum()) for w in wanted) / max(1, sum(w.numel() for w in wanted))


def check(binary: str, file: Path) -> Verdict:
    verdict = Verdict()
    start = cpu_seconds()
    graph = trace(load_file(str(file)))
    real = {form: imported(binary, graph, form == "folded") for form in ("flat", "folded")}
    verdict.import_seconds = cpu_seconds() - start
    verdict.opaque = real["flat"]["unsupported"]
    for joined in (False, True):
        source, verdict.sizes = shrink(file.read_text(), str(file), joined)
        verdict.families, verdict.compared = [], 0
        check_small(binary, file.name, source, {form: made["text"] for form, made in real.items()}, verdict)
        if not isinstance(verdict.differences["flat"], str):
            return verdict
    verdict.failure = verdict.failure or verdict.differences["flat"]
    return verdict


def check_small(binary: str, name: str, source: str, real: dict[str, str], verdict: Verdict) -> None:
    torch.set_default_dtype(torch.float64)
    try:
        module, args, graph = small_subject(source, name)
        compare_small(binary, module, args, graph, verdict)
    finally:
        torch.set_default_dtype(torch.float32)
    for form, text in real.items():
        verdict.differences[form] = compare_texts(text, imported(binary, graph, form == "folded")["text"])


def report(name: str, verdict: Verdict, seconds: float) -> None:
    sizes = ", ".join(f"{k} {v}" for k, v in verdict.sizes.items()) or "the real sizes"
    print(f"{'FAILED' if verdict.failure else 'agrees'} {name}: {verdict.compared} values within {verdict.worst:.1e}")
    print(f"    {sizes}; values {', '.join(verdict.families)}")
    for line in (verdict.failure, *(f"opaque: {o}" for o in verdict.opaque)):
        if line:
            print(f"    {line}")
    for form, found in verdict.differences.items():
        if found:
            print(f"    {form}: {found if isinstance(found, str) else 'numbers that differ: ' + ', '.join(found)}")
    print(f"    import {verdict.import_seconds:.1f} s, all {seconds:.1f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="the built import_check")
    parser.add_argument("--only", default="", help="only problems whose path contains this")
    parser.add_argument("folder", nargs="?", default=os.environ.get("SOLSTICE_KERNELBENCH"))
    options = parser.parse_args()
    if not options.folder:
        parser.error("give the folder of the problems, or set SOLSTICE_KERNELBENCH")
    files = [f for f in sorted(Path(options.folder).glob("level*/*.py")) if options.only in str(f)]
    verdicts = []
    for file in files:
        start = cpu_seconds()
        try:
            verdict = check(options.binary, file)
        except Exception as error:  # a problem that breaks is a failure like any other
            verdict = Verdict(failure=f"{type(error).__name__}: {error}")
        verdicts.append(verdict)
        report(f"{file.parent.name}/{file.stem}", verdict, cpu_seconds() - start)
    good = [v for v in verdicts if not v.failure]
    same = sum(v.differences["flat"] == [] for v in good)
    print(
        f"{len(good)} of {len(files)} agree, worst {max((v.worst for v in good), default=0):.1e}; {same} are the real "
        f"program token by token; {sum(bool(v.opaque) for v in verdicts)} with `opaque`; import "
        f"{sum(v.import_seconds for v in verdicts):.0f} s of CPU time, all {cpu_seconds():.0f} s"
    )
    return 0 if files and len(good) == len(files) else 1


if __name__ == "__main__":
    sys.exit(main())
