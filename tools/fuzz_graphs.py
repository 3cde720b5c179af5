#!/usr/bin/env python3
"""Seeds for the fuzzer of graphs: small graphs that together hold every operator with equations that PyTorch can be
brought to trace, each below the length that the fuzzer changes.

Cases of the importer's tests and PyTorch's own inputs of its modules are traced; one that brings a new operator is
kept. Operators that none brings are listed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools"), str(ROOT / "tests/python")]

import check_import  # noqa: E402
import check_modules  # noqa: E402
import import_cases  # noqa: E402
from solstice.errors import OracleError  # noqa: E402
from solstice.tracing import quiet  # noqa: E402


def subjects() -> Iterator[tuple[str, torch.nn.Module, tuple, dict]]:
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    from semantic_rows import ROWS

    for name, (subject, args) in [*import_cases.all_cases().items(), *ROWS.items()]:
        yield name, check_import.as_module(subject), args, {}
    for case in check_modules.cases(most=1):
        yield case.name, *check_modules.build(case)


def traced() -> Iterator[tuple[str, dict]]:
    for name, module, args, kwargs in subjects():
        try:
            with quiet():
                graph = check_import.trace(module, args, kwargs)
        except OracleError:  # a branch on values, for example
            continue
        yield name, graph


def record(graph: dict) -> str:
    """Without what only a drop-in or a report reads."""
    for node in graph["nodes"]:
        (node.get("src") or {}).pop("text", None)
    return check_import.as_record({**graph, "files": [Path(name).name for name in graph["files"]], "structure": {}})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="that the seeds are written to")
    parser.add_argument("longest", type=int, help="seed in bytes")
    arguments = parser.parse_args()
    folder, longest = arguments.folder, arguments.longest
    listed = subprocess.run(
        [ROOT / "build/bin/solstice", "list", "operators", "--json"], capture_output=True, text=True, check=True
    )
    missing = {op for group in json.loads(listed.stdout) for op in group["operators"]}
    kept = 0
    for name, graph in traced():
        new = missing & {node["op"] for node in graph["nodes"]}
        text = record(graph)
        if not new or len(text) > longest:
            continue
        missing -= new
        kept += 1
        (folder / f"case-{name.replace('/', '-')}.json").write_text(text)
    print(f"{kept} graphs; in none of them: {' '.join(sorted(missing)) or 'nothing'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
