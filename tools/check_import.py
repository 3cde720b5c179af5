#!/usr/bin/env python3
"""Checks the importer's rules against PyTorch: every case of import_cases.py is traced, imported, interpreted in
float64 and compared with eager PyTorch, outputs and updated buffers alike; both forms of the program, flat and folded.

    tools/check_import.py --binary build/tests/import_check [NAME ...]
    tools/check_import.py --binary build/tests/import_check --lengths [--store tests/golden/networks]
    tools/check_import.py --binary build/tests/import_check --time FILE ...

The second form prints how many lines the folded programs of whole networks have; more than LONGEST is a failure. Their
graphs can be kept, packed; tests/python/test_import_networks.py imports and checks what is kept.
The third traces and imports the problems of FILEs, both forms, and prints their lines and the CPU time of all.

Needs PyTorch; the package of python/ is used from the source tree. Exit status 1 if a case fails.
"""

from __future__ import annotations

import argparse
import copy
import json
import lzma
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]

import import_batches  # noqa: E402
from solstice.tracing.export import export_functional  # noqa: E402
from solstice.tracing.graph import graph_json  # noqa: E402

TOLERANCE = 1e-9  # of the largest value
FORMS: tuple[list[str], ...] = ([], ["--folded"])
INPUT_ERROR = 2  # the checker's exit code
LONGEST = 150  # lines of a whole network


class Unsupported(RuntimeError):
    """The importer has no program for the module, and says why."""


class Wrapped(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def as_module(subject: Any) -> torch.nn.Module:
    return subject if isinstance(subject, torch.nn.Module) else Wrapped(subject)


class Draws(TorchDispatchMode):
    """Keeps what random operators draw: of dropout the mask."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[torch.Tensor] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: Optional[dict] = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if torch.Tag.nondeterministic_seeded in func.tags:
            self.values.append(out[1] if isinstance(out, tuple) else out)
        return out


def trace(
    module: torch.nn.Module, args: Sequence, kwargs: Optional[dict] = None, decompose: Sequence[str] = ()
) -> dict:
    program, producer = export_functional(copy.deepcopy(module), tuple(args), kwargs or {}, decompose)
    graph = graph_json(program, module, {**producer, "weights": "real"}, {})
    # Constants travel with the graph; the interpreter wants their values like any other input's.
    graph["constants"] = {
        s.arg.name: program.constants[s.target]
        for s in program.graph_signature.input_specs
        if s.target in program.constants and s.kind.name == "CONSTANT_TENSOR"
    }
    if graph["rng"]:  # the draws and the results of one run
        with torch.no_grad(), Draws() as draws:
            live = program.module()
            results = live(*copy.deepcopy(tuple(args)), **copy.deepcopy(kwargs or {}))
        graph["run"] = (draws.values, pytree.tree_leaves(results), dict(live.named_buffers()))
    return graph


def as_record(graph: dict) -> str:
    """What the importer reads, without the tensors that only the comparison needs."""
    return json.dumps({k: v for k, v in graph.items() if k not in ("constants", "run")})


def imported(binary: str, graph: dict) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.json")
        path.write_text(as_record(graph))
        done = subprocess.run([binary, str(path)], capture_output=True, text=True)
        if done.returncode != 0:
            damaged = "damaged" in done.stderr or "should be" in done.stderr
            refused = done.returncode == INPUT_ERROR and not damaged
            raise (Unsupported if refused else RuntimeError)(done.stderr.strip())
    return json.loads(done.stdout)


def decomposed(binary: str, module: torch.nn.Module, args: Sequence, kwargs: dict) -> dict:
    """The graph, its operators without equations broken up as in a run (src/flow/run/problem/traced_import.h)."""
    graph, broken = trace(module, args, kwargs), []
    for _ in range(4):
        missing = {what.split(":")[0] for what in imported(binary, graph)["unsupported"]}
        broken += sorted(missing & set(graph["producer"]["decomposable"]))
        if not missing & set(broken):
            break
        graph = trace(module, args, kwargs, broken)
    return graph


def input_values(graph: dict, module: torch.nn.Module, args: Sequence, kwargs: dict) -> Iterator[torch.Tensor]:
    state = {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }
    user = iter(pytree.tree_leaves((tuple(args), kwargs)))
    for entry in graph["inputs"]:
        value = next(user) if entry["kind"] == "user_input" else None
        if "dtype" not in entry:
            continue
        if entry["kind"] == "constant_tensor":
            value = graph["constants"][entry["id"]]
        elif value is None:
            value = state[entry["fqn"]]
        yield value.detach()
    yield from graph.get("run", ([],))[0]


def expected_values(graph: dict, module: torch.nn.Module, args: Sequence, kwargs: dict) -> list[torch.Tensor]:
    if "run" in graph:  # also of buffers: statistics behind a dropout
        leaves, buffers = graph["run"][1:]
    else:
        live = copy.deepcopy(module)
        leaves = pytree.tree_leaves(live(*copy.deepcopy(args), **copy.deepcopy(kwargs)))
        buffers = dict(live.named_buffers())
    results = iter(leaves)
    return [next(results).detach() if o["kind"] == "user_output" else buffers[o["target"]] for o in graph["outputs"]]


def interpret(command: list[str], graph: dict, values: list[torch.Tensor]) -> list[torch.Tensor]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, n)) for n in ("graph.json", "values", "results")]
        Path(paths[0]).write_text(as_record(graph))
        held = (torch.view_as_real(v) if v.is_complex() else v for v in values)
        Path(paths[1]).write_bytes(b"".join(v.double().contiguous().numpy().tobytes() for v in held))
        done = subprocess.run([*command, *paths], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or done.stdout.strip())
        flat = torch.frombuffer(bytearray(Path(paths[2]).read_bytes()), dtype=torch.float64)
    metas = {o["id"]: o for n in graph["nodes"] for o in n["outs"] if o} | {i["id"]: i for i in graph["inputs"]}
    out, start = [], 0
    for output in graph["outputs"]:
        shape = metas[output["value"]]["shape"]
        count = torch.Size(shape).numel()
        out.append(flat[start : start + count].reshape(shape))
        start += count
    return out


def difference(got: torch.Tensor, wanted: torch.Tensor) -> float:
    wanted = wanted.double()
    if not torch.equal(torch.isnan(got), torch.isnan(wanted)):
        return float("inf")
    gap = torch.where(got == wanted, 0, (got - wanted).abs()).nan_to_num(0)
    finite = wanted[wanted.isfinite()].abs()
    return (gap.max() / max(1.0, finite.max().item() if finite.numel() else 1.0)).item()


def check(binary: str, cases: Sequence[tuple]) -> str:
    """What is wrong, or an empty string."""
    modules = [(as_module(subject), args, {}) for subject, args in cases]
    module, args, kwargs = import_batches.together(modules)
    try:
        return compare(binary, decomposed(binary, module, args, kwargs), module, args, kwargs)
    except Exception as error:  # a case that breaks is a failure like any other
        return f"{type(error).__name__}: {error}"


def compare(
    binary: str,
    graph: dict,
    module: torch.nn.Module,
    args: Sequence,
    kwargs: dict,
    tolerance: float = TOLERANCE,
    forms: Sequence[Sequence[str]] = FORMS,
) -> str:
    values, wanted = list(input_values(graph, module, args, kwargs)), expected_values(graph, module, args, kwargs)
    for form in forms:
        for i, (a, b) in enumerate(zip(interpret([binary, *form], graph, values), wanted)):
            worst = difference(a, b)
            if not worst <= tolerance:
                return f"output {i} ({graph['outputs'][i]['kind']}) differs by {worst:.3g} {' '.join(form)}"
    return ""


def store_graph(path: Path, graph: dict) -> None:
    """Without what only a drop-in reads; files named from the repository's or the packages' root."""
    files = [name.removeprefix(f"{ROOT}/").rpartition("site-packages/")[2] for name in graph["files"]]
    text = json.dumps({**graph, "files": files, "structure": {}}, separators=(",", ":"))
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def check_lengths(binary: str, store: str | None) -> int:
    from import_repeats import long_cases

    failed = 0
    for name, (module, args) in long_cases().items():
        graph = json.loads(as_record(trace(module, args)))
        if store:
            store_graph(Path(store, f"{name}.json.xz"), graph)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "graph.json")
            path.write_text(json.dumps(graph))
            done = subprocess.run([binary, "--folded", str(path)], capture_output=True, text=True, check=True)
        lines = json.loads(done.stdout)["text"].count("\n")
        failed += lines > LONGEST
        print(f"{name}: {lines} lines")
    return 1 if failed else 0


def import_files(binary: str, files: list[str]) -> int:
    from solstice.loading import load_file
    from solstice.tracing import trace as trace_subject

    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.json")
        for file in files:
            path.write_text(json.dumps(trace_subject(load_file(file))))
            runs = [
                subprocess.run([binary, *form, str(path)], capture_output=True, text=True)
                for form in ([], ["--folded"])
            ]
            failed += any(run.returncode for run in runs)
            lines = [
                json.loads(run.stdout)["text"].count("\n") if run.returncode == 0 else run.stderr.strip()
                for run in runs
            ]
            print(f"{file}: {lines[0]} lines, folded {lines[1]}")
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{len(files)} files, {failed} failed, {sum(u.ru_utime + u.ru_stime for u in used):.0f} s of CPU time")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="the built import_check")
    parser.add_argument("names", nargs="*", help="cases to run; all by default")
    parser.add_argument("--lengths", action="store_true", help="only count the lines of whole networks")
    parser.add_argument("--store", help="with --lengths: a folder for the packed graphs")
    parser.add_argument("--time", action="store_true", help="the names are files of problems to import")
    options = parser.parse_args()
    if options.time:
        return import_files(options.binary, options.names)
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    if options.lengths:
        return check_lengths(options.binary, options.store)
    from import_cases import all_cases

    cases = all_cases()
    names = options.names or list(cases)
    verdicts = import_batches.settle(
        names, lambda batch: check(options.binary, [cases[n] for n in batch]), lambda v: not v
    )
    failed = {name: problem for name, problem in verdicts.items() if problem}
    for name, problem in failed.items():
        print(f"FAILED {name}: {problem}")
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
