#!/usr/bin/env python3
"""Runs the importer on PyTorch's own inputs of its `nn` modules (torch.testing._internal.common_modules), in train mode
and float64: each case is traced, imported in both forms, interpreted and compared with eager, outputs and updated
buffers alike. Prints what failed, a table and the share that imports without `opaque` and agrees.

    tools/check_modules.py --binary build/tests/import_check [--most N] [--only REGEX] [NAME ...]

NAME is a module (`nn.NLLLoss`) or one of its cases (`nn.NLLLoss/3`). Some modules have hundreds of cases that differ in
their options; the first MOST of each are taken (0: all).
"""

from __future__ import annotations

import argparse
import collections
import copy
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Iterator, NamedTuple

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]

import check_import  # noqa: E402
from solstice.errors import OracleError  # noqa: E402
from solstice.tracing import _quiet, lazy  # noqa: E402

MOST = 6


class Case(NamedTuple):
    name: str
    module: str
    make: Any


class Verdict(NamedTuple):
    state: str  # agrees, differs, opaque, untraced, broken
    why: str = ""


def cases(most: int) -> Iterator[Case]:
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        torch.manual_seed(0)
        inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float64, requires_grad=False, training=True)
        for i, chosen in enumerate(inputs[:most] if most else inputs):
            yield Case(f"{info.name}/{i}", info.name, (info.module_cls, chosen))


def build(case: Case) -> tuple[torch.nn.Module, tuple, dict]:
    kind, chosen = case.make
    torch.manual_seed(1)
    module = kind(*chosen.constructor_input.args, **chosen.constructor_input.kwargs).to(torch.float64).train()
    args, kwargs = chosen.forward_input.args, chosen.forward_input.kwargs
    if lazy.waits(module):
        lazy.materialise(module, args, kwargs)
    return module, args, kwargs


def opaque_operators(binary: str, graph: dict) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.json")
        path.write_text(json.dumps({k: v for k, v in graph.items() if k != "constants"}))
        done = subprocess.run([binary, str(path)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)["unsupported"]


def verdict(binary: str, case: Case) -> Verdict:
    module, args, kwargs = build(case)
    try:
        with _quiet():
            graph = check_import.trace(module, args, kwargs)
    except OracleError as error:
        return Verdict("untraced", str(error))
    missing = opaque_operators(binary, graph)
    if missing:
        return Verdict("opaque", "; ".join(sorted(set(missing))))
    problem = check_import.compare(binary, graph, module, args, kwargs)
    return Verdict("differs", problem) if problem else Verdict("agrees")


def checked(binary: str, case: Case) -> Verdict:
    try:
        return verdict(binary, case)
    except Exception as error:  # a case that breaks is a failure like any other
        return Verdict("broken", f"{type(error).__name__}: {error}")


def print_table(results: dict[Case, Verdict]) -> None:
    by_module: dict[str, collections.Counter] = {}
    for case, result in results.items():
        by_module.setdefault(case.module, collections.Counter())[result.state] += 1
    for name, counts in by_module.items():
        rest = ", ".join(f"{n} {state}" for state, n in sorted(counts.items()) if state != "agrees")
        print(f"{name}: {counts['agrees']} of {sum(counts.values())}{'; ' + rest if rest else ''}")


def print_reasons(results: dict[Case, Verdict]) -> None:
    reasons: dict[tuple, list[str]] = collections.defaultdict(list)
    for case, result in results.items():
        if result.state != "agrees":
            reasons[(result.state, result.why[:300])].append(case.name)
    for (state, why), names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(names):4} {state}: {why}\n       {' '.join(names[:8])}{' ..' if len(names) > 8 else ''}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="the built import_check")
    parser.add_argument("--most", type=int, default=MOST, help="cases of a module; 0: all")
    parser.add_argument("names", nargs="*", help="modules or cases; all by default")
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    wanted = set(options.names)
    start = time.process_time()
    chosen = [c for c in cases(options.most) if not wanted or {c.name, c.module} & wanted]
    results = {case: checked(options.binary, case) for case in chosen}
    print_table(results)
    print_reasons(results)
    good = sum(r.state == "agrees" for r in results.values())
    print(f"{good} of {len(results)} cases agree ({100 * good / len(results):.1f} %), "
          f"{time.process_time() - start:.0f} s of CPU time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
