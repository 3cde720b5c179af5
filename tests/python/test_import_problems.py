"""tools/check_problems.py: whole problems against PyTorch, at sizes shrunken in their source."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

pytestmark = pytest.mark.slow

CHECKER = ROOT / "build" / "tests" / "import_check"

PROBLEM = """
    import torch
    import torch.nn as nn
    class Model(nn.Module):
        def __init__(self, c, k, groups, width=96):
            super().__init__()
            self.conv = nn.Conv2d(c, k, 3, stride=2, padding=1)
            self.norm = nn.GroupNorm(groups, k)
            self.bn = nn.BatchNorm2d(k)
            self.out = nn.Linear(k, width)
        def forward(self, x):
            x = torch.relu(self.norm(self.conv(x))) + 0.1
            return self.out(self.bn(x).mean((2, 3)))
    batch_size = 16
    channels, features = 32, 16 * 8
    groups = 32
    size = [64, 64]
    def get_inputs(): return [torch.rand(batch_size, channels, *size)]
    def get_init_inputs(): return [channels, features, groups]
"""


def run_tool(folder, checker=CHECKER):
    if not CHECKER.exists():
        pytest.skip(f"{CHECKER} is not built: `./x build`")
    tool = [sys.executable, ROOT / "tools/check_problems.py", "--binary", checker, folder]
    return subprocess.run(tool, capture_output=True, text=True)


@pytest.fixture
def problems(tmp_path, write_model):
    (tmp_path / "level1").mkdir()

    def write(text, name="one.py"):
        write_model(text, f"level1/{name}")
        return tmp_path

    return write


def test_problems_are_shrunken_and_compared(problems):
    problems(PROBLEM)
    done = run_tool(problems(PROBLEM.replace("+ 0.1", "+ x[x > 0].sum()"), "two.py"))
    assert done.returncode == 1
    assert "agrees level1/one: " in done.stdout and "values both signs, as given, small" in done.stdout
    assert "FAILED level1/two: " in done.stdout and "depends on the values of a tensor" in done.stdout
    assert "1 of 2 agree" in done.stdout and "1 are the real program token by token; 0 with `opaque`" in done.stdout


def test_an_import_that_is_wrong_fails(problems, tmp_path):
    """An importer that takes another epsilon."""
    wrong = tmp_path / "wrong"
    edit = """for a in "$@"; do case $a in *graph.json) sed -i 's/"eps": 1e-05/"eps": 1.1e-05/g' "$a";; esac; done"""
    wrong.write_text(f'#!/bin/sh\n{edit}\nexec {CHECKER} "$@"\n')
    wrong.chmod(0o755)
    done = run_tool(problems(PROBLEM), wrong)
    assert done.returncode == 1 and "FAILED level1/one: " in done.stdout and " differs by " in done.stdout


def test_sizes_are_small_distinct_and_still_fit(problems):
    from shrink_problem import shrink

    file = problems(PROBLEM) / "level1/one.py"
    _, sizes = shrink(file.read_text(), str(file))
    small = {name: int(change.rpartition(" ")[2]) for name, change in sizes.items()}
    assert small["batch_size"] == 2 and small["groups"] <= 16 and small["(channels, features)"] % small["groups"] == 0
    assert len(set(small.values())) == len(small) and max(small.values()) <= 64


def test_another_program_is_told_by_its_tokens():
    from check_problems import compare_texts

    real = (
        "program p\ndim M = 512, K = 96,\n  N = 4\ninput  x : f32[M, K]\n"
        "y[m] = sum[k](x[m,k]) * 0.10000000149011612  # a, f.py:3\n"
    )
    small = "program p\ndim M = 12, K = 14\ndim N = 4\ninput  x : f64[M, K]\ny[m] = sum[k](x[m,k]) * 0.1\n"
    assert compare_texts(real, small) == []
    assert compare_texts(real, small.replace("0.1", "0.2")) == ["0.10000000149011612/0.20000000298023224"]
    assert "another program" in compare_texts(real, small.replace("sum", "max"))
    assert "another program" in compare_texts(real, small + "z[m] = y[m]\n")


def test_the_development_problems():
    folder = os.environ.get("SOLSTICE_KERNELBENCH")
    if not folder:
        pytest.skip("SOLSTICE_KERNELBENCH does not name KernelBench's folder (with level1/, level2/, level3/)")
    done = run_tool(folder)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
