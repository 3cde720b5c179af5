"""Writes originals.jsonl: measured times of PyTorch eager, each with the graph of its module's calls.

    python bench/families/originals.py PAGE FOLDER > bench/families/originals.jsonl

PAGE is docs/kernelbench.md, whose columns `PyTorch eager` and `PyTorch eager, TF32 allowed` are the times; FOLDER holds
the problems (level1, level2, level3). Then come modules that no parameter of the model was fitted to: HELD_OUT, with
their times in docs/results.md and README.md. `solstice list families --fit` judges src/sol/eager by the file.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Iterator, Optional

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from solstice.loading import load_file  # noqa: E402
from solstice.tracing import trace  # noqa: E402

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
ORIGIN = {"machine": "h200", "device": "NVIDIA H200", "torch": "2.11.0+cu130"}

# Module, page, seconds by PyTorch's default flags.
HELD_OUT = (
    ("examples/linear_gelu.py", "README.md", 2.72e-3),
    ("examples/mlp.py", "README.md", 5.48e-3),
    ("bench/kernels/decode_gemv.py", "docs/results.md", 45.04e-6),
    ("bench/kernels/fused_mlp.py", "docs/results.md", 1.665e-3),
    ("bench/kernels/rmsnorm_gemm.py", "docs/results.md", 509.4e-6),
)


def seconds(cell: str) -> Optional[float]:
    found = re.match(r"([\d.]+) (ms|us|s),", cell)
    return float(found[1]) * UNITS[found[2]] if found else None


def measured_rows(page: Path) -> Iterator[tuple[str, str, float, Optional[float]]]:
    """Level and number, name, seconds, seconds with TF32."""
    for line in page.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 13 or not re.fullmatch(r"\d/\d+", cells[0]):
            continue
        time = seconds(cells[5])
        if time is not None:
            yield cells[0], cells[1], time, seconds(cells[6])


def tensor(value: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value[key] for key in ("id", "dtype", "shape", "stride") if value.get(key) not in (None, [])}
    return kept


def calls_of(file: Path) -> dict[str, Any]:
    """The graph without sources, state and structure; of the modules, those whose name says that they drop values."""
    graph = trace(load_file(str(file)))
    types = {m["path"]: m["type"] for m in graph["modules"] if "Dropout" in m["type"]}
    nodes = []
    for node in graph["nodes"]:
        kept = {"id": node["id"], "op": node["op"], "args": node["args"]}
        kept["outs"] = [out and tensor(out) for out in node["outs"]]
        if node.get("module") in types:
            kept["module"] = node["module"]
        if node.get("view_of"):
            kept["view_of"] = node["view_of"]
        nodes.append(kept)
    inputs = [{**tensor(i), "kind": i["kind"]} for i in graph["inputs"] if i.get("dtype")]
    modules = [{"path": path, "type": kind} for path, kind in types.items()]
    empty: dict[str, Any] = {
        "schema": "solstice.graph",
        "version": 1,
        "producer": {},
        "symbols": {},
        "files": [],
        "state": [],
        "outputs": [],
    }
    return {**empty, "semantics": graph["semantics"], "modules": modules, "inputs": inputs, "nodes": nodes}


def put(record: dict[str, Any]) -> None:
    print(json.dumps({"schema": "solstice.original_time/1", **record}, separators=(",", ":")))


def main() -> None:
    page, folder = Path(sys.argv[1]), Path(sys.argv[2])
    started = re.search(r"started (\S+)", page.read_text())
    for key, name, time, tf32 in measured_rows(page):
        level, number = key.split("/")
        file = next((folder / f"level{level}").glob(f"{number}_*.py"))
        record = {"problem": f"{key} {name}", "graph": calls_of(file), **ORIGIN, "date": started[1] if started else ""}
        put({**record, "source": "docs/kernelbench.md", "measured": time, **({"tf32": tf32} if tf32 else {})})
    for module, source, time in HELD_OUT:
        record = {"problem": module, "graph": calls_of(ROOT / module), **ORIGIN, "date": ""}
        put({**record, "source": source, "measured": time, "held_out": True})


if __name__ == "__main__":
    main()
