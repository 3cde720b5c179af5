"""`solstice.optimize`: the caller's process answers a stand-in of the program."""

import json

import pytest
import torch

import solstice
from conftest import ROOT
from solstice.errors import OracleError

PROGRAM = str(ROOT / "tests" / "python" / "fake_program.py")


def test_the_callers_module_is_the_oracle(tmp_path, capfd):
    module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())
    x = torch.rand(2, 4)
    result = solstice.optimize(module, (x,), out=tmp_path, program=PROGRAM, budget="5s", numerics="high", json=True)
    assert result is module  # the stand-in found nothing faster
    record = json.loads((tmp_path / "heard.json").read_text())
    assert record["arguments"][:7] == [
        "optimize",
        "--out",
        str(tmp_path),
        "--budget",
        "5s",
        "--numerics",
        "high",
    ]
    hello, load, trace, inputs, expected = record["heard"]
    assert load["class_name"] == "Sequential" and load["file"] is None
    assert [n["op"] for n in trace["graph"]["nodes"]] == ["aten.linear.default", "aten.relu.default"]
    assert inputs["inputs"][0]["shape"] == [2, 4] and expected["values"][0]["eager_error"] < 1e-5


def test_a_failing_program_is_an_error(tmp_path):
    with pytest.raises(RuntimeError, match="ended with status 4"):
        solstice.optimize(torch.nn.ReLU(), torch.rand(2), out=tmp_path, program=PROGRAM, fail=True)


def test_a_run_stopped_early_attaches_no_earlier_outcome(tmp_path):
    (tmp_path / "dropin.json").write_text("{}")
    (tmp_path / "report.json").write_text("{}")
    module = torch.nn.ReLU()
    assert solstice.optimize(module, torch.rand(2), out=tmp_path, program=PROGRAM, stop=True) is module


def test_no_module():
    with pytest.raises(TypeError, match="takes a torch.nn.Module"):
        solstice.optimize(lambda x: x, torch.rand(2))


def test_no_program(tmp_path):
    with pytest.raises(OracleError, match="not an executable file"):
        solstice.optimize(torch.nn.ReLU(), torch.rand(2), program=str(tmp_path / "none"))
