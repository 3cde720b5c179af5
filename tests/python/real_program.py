"""The built program in tests: where it is, runs of it with a store of their own, and what they left."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import ROOT

MODEL = """
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.relu(x) * 2

    def get_inputs():
        return [torch.rand(64, 128)]

    def get_init_inputs():
        return []
"""


def _program():
    named = os.environ.get("SOLSTICE_PROGRAM")
    built = [pathlib.Path(named)] if named else [*ROOT.glob("build/bin/solstice"), *ROOT.glob("build/*/bin/solstice")]
    built = [b for b in built if os.access(b, os.X_OK)]
    return str(max(built, key=lambda b: b.stat().st_mtime)) if built else None


PROGRAM = _program()
needs_program = pytest.mark.skipif(
    PROGRAM is None, reason="the program is not built; set SOLSTICE_PROGRAM or run ./x build"
)


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("homes")
    return {
        "SOLSTICE_HOME": str(folder / "home"),
        "SOLSTICE_CACHE": str(folder / "cache"),
        "SOLSTICE_PYTHON": sys.executable,
    }


@pytest.fixture
def start(homes, tmp_path):
    def begin(*arguments, **options):
        command = [PROGRAM, *map(str, arguments)]
        environment = {**os.environ, **homes}
        return subprocess.Popen(
            command, env=environment, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
        )

    return begin


@pytest.fixture
def run(start):
    def finish(*arguments, **options):
        process = start(*arguments, **options)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    return finish


def optimize(run, path, out, *more, **options):
    return run("optimize", path, "--device", "model", "--budget", "20s,2trials", "--out", out, *more, **options)


def earlier(run, path, out):
    code, _, err = optimize(run, path, out)
    assert code == 0, err
    return {f: f.read_bytes() for f in out.rglob("*") if f.is_file()}


def whole(before, out):
    return all(f.read_bytes() == text for f, text in before.items())


def until(process, mark):
    seen = []
    for line in process.stderr:
        if mark in line:
            return
        seen.append(line)
    raise AssertionError(f"`{mark}` never came: {''.join(seen)}")


def store_of(run, folder):
    code, out, err = run("show", "last", "--store", folder, "--json")
    assert code == 0, err
    return json.loads(out)["run"]
