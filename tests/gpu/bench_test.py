"""`solstice bench kernelbench` on a real GPU: several policies on one preparation, opponents and drop-ins,
flaws."""

import json
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from conftest import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "python"))

PROBLEM = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2048, 4096, bias=False)
        self.tiny = torch.nn.Parameter(torch.full((4096,), 1e-7))
    def forward(self, x): return RESULT
def get_inputs(): return [torch.rand(1024, 2048)]
def get_init_inputs(): return []
def opponents(model): return {"twice": lambda x: (model(x), model(x))[0], "broken": lambda x: 1 / 0}
"""
RESULTS = {
    1: "torch.relu(self.linear(x) + self.tiny)",
    2: "self.linear(x).sum(dim=1, keepdim=True)",
    3: "self.linear(x) * 1e-6",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from solstice.errors import OracleError
    from solstice.launch import find_program

    try:
        program = find_program()
    except OracleError as error:
        pytest.skip(f"{error.message}: no bench was run")
    folder = tmp_path_factory.mktemp("bench")
    (folder / "kb/level1").mkdir(parents=True)
    for number, result in RESULTS.items():
        (folder / f"kb/level1/{number}_Problem.py").write_text(PROBLEM.replace("RESULT", result))
    options = ("--numerics", "reference,high", "--rewrites", "both", "--budget", "3s,4trials", "--allow-busy")
    command = (program, "bench", "kernelbench", "--path", folder / "kb", *options, "--out", folder / "out")
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("bench.md", "bench.svg"):
        assert (folder / "out" / name).stat().st_size
    return {row["id"]: row for row in json.loads((folder / "out/bench.json").read_text())["rows"]}


def variants(row):
    return {(v["numerics"], v["rewrites"]): v for v in row["variants"]}


def test_every_policy_is_verified_and_timed_beside_the_opponents(bench):
    row = bench["1/1"]
    names = [o["name"] for o in row["opponents"]]
    assert names == [
        "PyTorch eager",
        "PyTorch eager, TF32 allowed",
        "torch.compile",
        "torch.compile, TF32 allowed",
        "twice",
        "broken",
    ]
    times = {o["name"]: o["time"] and o["time"]["median"] for o in row["opponents"]}
    assert times["broken"] is None and times["twice"] > 1.5 * times["PyTorch eager"] > 0
    errors = {o["name"]: o["error"] for o in row["opponents"]}
    assert errors["PyTorch eager, TF32 allowed"] > 10 * errors["PyTorch eager"]
    for v in variants(row).values():
        assert v["outcome"] == "faster" and v["verdict"].startswith("passed") and v["launches"] > 0, v
        assert v["beside"]["time"] and v["beside"]["peak"] > 0 and v["kernels"]
    high = variants(row)["high", "on"]
    candidates = json.loads((pathlib.Path(high["folder"]) / "report.json").read_text())["candidates"]
    known = [(c["what"], c["state"], c["note"]) for c in candidates], high["verdict"]
    assert high["beside"]["time"]["median"] < variants(row)["reference", "on"]["beside"]["time"]["median"], known


def test_a_rewrite_has_a_column_without_it(bench):
    found = variants(bench["1/2"])
    assert found["reference", "on"]["rewritten"] == "factor_sums" and found["reference", "off"]["rewritten"] == ""
    assert found["reference", "on"]["speedup"] > 2 * found["reference", "off"]["speedup"] > 0


def test_flaws_are_measured(bench):
    assert bench["1/1"]["flaws"]["measured"] and bench["1/1"]["flaws"]["unseen"] == ["tiny"]
    assert bench["1/2"]["flaws"]["dead"] == ["tiny"]
    assert bench["1/3"]["flaws"]["constant"] == "zeros"
