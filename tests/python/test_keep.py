"""`solstice compile --keep`: the kernels of a program as files that compile, read and run by themselves."""

import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import ROOT
from pages import PROGRAM, needs_program

NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc is missing")
pytestmark = [needs_program, pytest.mark.slow]


SCHEDULED = ("docs/tutorial/linear_gelu.ucut", "examples/rms_silu.ucut")  # a product, and code of a person
PLANNED = tuple(f"bench/families/{name}.ucut" for name in ("softmax", "cumsum", "cross_entropy", "concat", "experts"))


@pytest.fixture(scope="module", params=[*SCHEDULED, *PLANNED])
def kept(request, tmp_path_factory):
    """(folder, the command's JSON) of a program of each family."""
    out = tmp_path_factory.mktemp("kept")
    env = dict(os.environ, SOLSTICE_CACHE=str(tmp_path_factory.mktemp("cache")))
    program = ROOT / request.param
    if request.param in PLANNED:
        planned = subprocess.run([PROGRAM, "plan", program], capture_output=True, text=True, check=True).stdout
        program = out / "planned.ucut"
        program.write_text(planned)
    command = [PROGRAM, "compile", program, "--out", out, "--keep", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if "error[no_compiler]" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return out, json.loads(done.stdout)


def entries(report):
    return [kernel["entry"] for module in report["modules"] for kernel in module["kernels"]]


def test_ptx_and_what_is_lacking_are_named(kept):
    out, report = kept
    text = "".join((out / name).read_text() for name in report["kept"]["files"] if name.endswith(".ptx"))
    assert ".target sm_90a" in text
    for entry in entries(report):
        assert re.search(rf"\.entry {re.escape(entry)}\b", text)
    sass = [name for name in report["kept"]["files"] if name.endswith(".sass")]
    lacking = report["kept"]["lacking"]
    assert len(sass) + len(lacking) == len(report["modules"])
    assert all("nvdisasm" in line for line in lacking)


@needs_nvcc
def test_each_module_compiles_alone(kept, tmp_path):
    out, report = kept
    found = b""
    for module in report["modules"]:
        source = out / f"{module['name']}.alone.cu"
        shutil.copy(source, tmp_path)
        command = re.search(r"^//   (nvcc .*)$", source.read_text(), re.M)[1].replace("nvcc", NVCC, 1)
        done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found += (tmp_path / f"{module['name']}.cubin").read_bytes()
    for entry in entries(report):
        assert entry.encode() in found


@needs_nvcc
def test_the_launcher_builds_and_the_profile_names_it(kept):
    out, report = kept
    command = report["kept"]["build"].replace("nvcc", NVCC, 1)
    done = subprocess.run(command, shell=True, cwd=out, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (out / "launch").exists() and report["kept"]["profile"].endswith("./launch")


def test_the_text_ends_with_the_lines_to_profile(kept, tmp_path):
    done = subprocess.run(
        [PROGRAM, "compile", ROOT / "examples/rms_silu.ucut", "--out", tmp_path / "plan", "--keep"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert re.search(r"profile with: cd \S+ && nvcc .* && ncu .* \./launch\n$", done.stdout), done.stdout
