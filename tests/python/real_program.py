"""The built program in tests: where it is, runs of it with a store of their own, and what they left."""

import json
import os
import pathlib

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


def optimize(run, path, out, *more, **options):
    return run("optimize", path, "--device", "model", "--budget", "60s,2trials", "--out", out, *more, **options)


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
