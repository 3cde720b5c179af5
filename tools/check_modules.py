#!/usr/bin/env python3
"""Runs the importer on PyTorch's own inputs of its `nn` modules (torch.testing._internal.common_modules), in train mode
and float64: each case is traced, imported in both forms, interpreted and compared with eager, outputs and updated
buffers alike. Prints what failed, a table and the share that imports without `opaque` and agrees.

    tools/check_modules.py --binary build/tests/import_check [--most N] [NAME ...]
    tools/check_modules.py --binary build/tests/import_check --known FILE [--update]

NAME is a module (`nn.NLLLoss`) or one of its cases (`nn.NLLLoss/3`). Some modules have hundreds of cases that differ in
their options; the first MOST of each are taken (0: all). FILE lists the cases known not to agree: they are not run, and
any other that fails makes the exit status 1, as does a share below BAR. --update writes it.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import sys
import time
from pathlib import Path
from typing import Any, Iterator, NamedTuple, Sequence

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]

import check_import  # noqa: E402
import import_batches  # noqa: E402
from solstice.errors import OracleError  # noqa: E402
from solstice.tracing import lazy, quiet  # noqa: E402

MOST = 6
BAR = 0.85  # of the cases import without `opaque` and agree
SKIPPED = 77


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


def verdict(binary: str, cases: Sequence[Case]) -> Verdict:
    module, args, kwargs = import_batches.together([build(case) for case in cases])
    try:
        with quiet():
            graph = check_import.decomposed(binary, module, args, kwargs)
    except OracleError as error:
        return Verdict("untraced", str(error))
    missing = check_import.imported(binary, graph)["unsupported"]
    if missing:
        return Verdict("opaque", "; ".join(sorted(set(missing))))
    problem = check_import.compare(binary, graph, module, args, kwargs)
    return Verdict("differs", problem) if problem else Verdict("agrees")


def checked(binary: str, cases: Sequence[Case]) -> Verdict:
    try:
        return verdict(binary, cases)
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


def read_known(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def write_known(path: Path, results: dict[Case, Verdict]) -> None:
    lines = [f"{case.name}: {result.state}" for case, result in results.items() if result.state != "agrees"]
    path.write_text(
        "# Cases that do not agree; tools/check_modules.py --known FILE --update writes this.\n"
        + "\n".join(lines)
        + "\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="the built import_check")
    parser.add_argument("--most", type=int, default=MOST, help="cases of a module; 0: all")
    parser.add_argument("--known", type=Path, help="cases that are known not to agree")
    parser.add_argument("--update", action="store_true", help="run all and write --known")
    parser.add_argument("names", nargs="*", help="modules or cases; all by default")
    options = parser.parse_args()
    if importlib.util.find_spec("expecttest") is None:
        print("PyTorch's own module tests need the package `expecttest` (requirements.txt)")
        return SKIPPED
    torch.set_default_dtype(torch.float64)
    wanted = set(options.names)
    start = time.process_time()
    chosen = [c for c in cases(options.most) if not wanted or {c.name, c.module} & wanted]
    known = read_known(options.known) if options.known and not options.update else {}
    run = [c for c in chosen if c.name not in known]
    results = import_batches.settle(run, lambda batch: checked(options.binary, batch), lambda v: v.state == "agrees")
    if options.known and options.update:
        write_known(options.known, results)
    if not known:
        print_table(results)
    print_reasons(results)
    good = sum(r.state == "agrees" for r in results.values())
    print(
        f"{good} of {len(chosen)} cases agree ({100 * good / len(chosen):.1f} %), {len(chosen) - len(run)} not run, "
        f"{time.process_time() - start:.0f} s of CPU time"
    )
    print(f"{good} passed, {len(run) - good} failed")
    return 1 if known and (good < len(run) or good < BAR * len(chosen)) else 0


if __name__ == "__main__":
    sys.exit(main())
