"""tools/check_field.py: modules as people have them, imported, compared with PyTorch and planned."""

import json
import subprocess
import sys

import pytest
from conftest import ROOT

CHECKER = ROOT / "build" / "tests" / "import_check"
PROGRAM = ROOT / "build" / "bin" / "solstice"

FILE = """
    import torch, torch.nn as nn
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.drop = nn.Linear(6, 4), nn.Dropout(0.5)
        def forward(self, x):
            return BODY
        @staticmethod
        def example_inputs():
            return (torch.randn(3, 6),)
"""


def rows_of(*arguments, checker=CHECKER):
    for program in (CHECKER, PROGRAM):
        if not program.exists():
            pytest.skip(f"{program} is not built: `./x build`")
    tool = [sys.executable, ROOT / "tools/check_field.py", "--binary", checker, "--json", *arguments]
    done = subprocess.run(tool, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def file_with(write_model):
    return lambda body, name="one.py": write_model(FILE.replace("BODY", body), name)


def test_a_module_is_compared_in_both_modes(file_with):
    code, rows = rows_of(file_with("self.drop(torch.relu(self.lin(x)))"))
    assert code == 0 and [(row["imports"], row["values"]) for row in rows] == [("yes", "agree")]


def test_what_is_refused_has_its_reason(file_with):
    code, (masked, complex_) = rows_of("--quick", file_with("x[x > 0]"), file_with("torch.fft.rfft(x).abs()", "two.py"))
    assert code == 0 and masked["imports"] == complex_["imports"] == "refused"
    assert "depends on the values of a tensor" in masked["reason"] and "torch.where" in masked["reason"]
    assert "product with cosines and sines" in complex_["reason"]


def test_an_import_that_is_wrong_fails(file_with, tmp_path):
    """An importer that takes another epsilon."""
    wrong = tmp_path / "wrong"
    edit = """for a in "$@"; do case $a in *graph.json) sed -i 's/"eps": 1e-05/"eps": 1.1e-05/g' "$a";; esac; done"""
    wrong.write_text(f'#!/bin/sh\n{edit}\nexec {CHECKER} "$@"\n')
    wrong.chmod(0o755)
    code, rows = rows_of("--quick", file_with("nn.functional.layer_norm(self.lin(x), (4,))"), checker=wrong)
    assert code == 1 and "differs by" in rows[0]["values"]


PARTS = """
    import torch, torch.nn as nn
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.Linear(64, 64), nn.Linear(64, 64)
        def forward(self, x):
            return self.down(torch.fft.fft(self.up(x).relu()).abs()).relu()
        @staticmethod
        def example_inputs():
            return (torch.randn(32, 64),)
"""


@pytest.mark.slow
def test_kernels_of_parts_count(write_model, monkeypatch, tmp_path):
    """Also of a file that is named from here, though it is planned from another folder."""
    write_model(PARTS)
    monkeypatch.chdir(tmp_path)
    code, (row,) = rows_of("--quick", "--solstice", PROGRAM, "model.py")
    assert code == 0 and row["imports"] == "refused" and row["outcome"] == "predicted"
    assert row["kernels"] > 0 and row["parts"].startswith(("1 of", "2 of"))


def test_a_run_that_fails_is_no_pass(file_with, tmp_path):
    program = tmp_path / "broken"
    program.write_text("#!/bin/sh\necho 'error: no' >&2\nexit 2\n")
    program.chmod(0o755)
    code, (row,) = rows_of("--quick", "--solstice", program, file_with("torch.relu(self.lin(x))"))
    assert code == 1 and row["outcome"] == "exit code 2"


@pytest.mark.slow
def test_modules_of_people_have_kernels():
    code, rows = rows_of("--quick", "--solstice", PROGRAM, "llama_block", "deep_fm", "mel_frontend", "pair_potential")
    assert code == 0 and {row["outcome"] for row in rows} == {"predicted"}
    assert all(row["kernels"] > 0 and row["values"] == "agree" for row in rows)
