"""tools/check_sources.py: what two sources of a diagnosis both say agrees, and what does not is named."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import check_sources
import pytest
from conftest import ROOT
from real_program import PROGRAM, needs_program
from source_programs import programs_of


@needs_program
def test_sources_agree_on_a_program_of_each_family():
    command = [sys.executable, ROOT / "tools/check_sources.py", "--each", "1", "--solstice", PROGRAM]
    env = dict(os.environ, SOLSTICE_PYTHON=sys.executable)
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=env, timeout=600)
    if "error[no_compiler]" in done.stderr:
        pytest.skip("NVRTC is not here: nothing was compiled")
    assert done.returncode == 0, done.stdout + done.stderr
    listed = subprocess.run([PROGRAM, "list", "families", "--json"], capture_output=True, text=True, check=True)
    for family in json.loads(listed.stdout):
        if family["available"]:
            assert f"{family['name']}: 1 programs" in done.stdout, f"tools/source_programs.py has no {family['name']}"


@needs_program
def test_recorded_counts_of_wgmma_are_those_of_the_equations():
    command = [sys.executable, ROOT / "tools/check_sources.py", "--facts", ROOT / "tests/sick/facts"]
    env = dict(os.environ, SOLSTICE_PYTHON=sys.executable)
    done = subprocess.run(
        [*map(str, command), "--solstice", PROGRAM], capture_output=True, text=True, env=env, timeout=600
    )
    if "error[no_compiler]" in done.stderr or "without nvdisasm" in done.stdout:
        pytest.skip("NVRTC or nvdisasm is not here: there is no machine code")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "wgmma that ran: 16 compared" in done.stdout


@needs_program
def test_every_program_is_legal(tmp_path):
    file = tmp_path / "program.ucut"
    for family in ("cuda", "gemm", "map", "reduce", "rows", "scan"):
        for text in programs_of(family, 99):
            file.write_text(text)
            done = subprocess.run([PROGRAM, "check", file, "--machine", "h200"], capture_output=True, text=True)
            assert done.returncode == 0, text + done.stdout + done.stderr


def test_what_differs_is_named():
    step = {"block": [160, 1, 1], "shared_bytes": 0}
    kernel = SimpleNamespace(
        name="made 1, k",
        step=step,
        facts={"occupancy": {"blocks_per_sm": 5}},
        ptxas={"registers": 80, "static_shared_bytes": 0},
    )
    checks = check_sources.Checks()
    check_sources.check_occupancy(kernel, checks, check_sources.machine_of("h200"))
    assert checks.differ == ["made 1, k: occupancy: facts 5, rules 4"]
    kernel.facts["occupancy"]["blocks_per_sm"] = 4
    check_sources.check_occupancy(kernel, checks, check_sources.machine_of("h200"))
    assert checks.done["occupancy"] == 2 and len(checks.differ) == 1
