"""Programs of equations that are written by hand, on a GPU: verified and timed against the module that they compute,
and against an original that is written from their equations."""

import importlib.util
import json
import subprocess

import pytest

torch = pytest.importorskip("torch")

# A row norm with a gather, and a buffer that is written; with a schedule.
EQUATIONS = """program rows
dim B = 4096, F = 2048
param gain : f32[F] "gain"
buffer seen : i64[] "seen"
input x : f32[B, F]
input pick : i64[B]
output y : f32[B, F]
tensor after : i64[] into seen
kernel norm by rows() {
  s[b] = rsqrt(mean[f](x[pick[b],f]**2) + 1e-5)
  y[b,f] = silu(x[pick[b],f] * s[b] * gain[f])
}
kernel count by map() {
  after[] = seen[] + 1
}
"""
MODULE = """import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.rand(2048))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

    def forward(self, x, pick):
        self.seen.add_(1)
        rows = x.index_select(0, pick)
        return F.silu(rows * torch.rsqrt(rows.pow(2).mean(1, keepdim=True) + 1e-5) * self.gain)


def get_inputs():
    return [torch.randn(4096, 2048), torch.randint(0, 4096, (4096,))]


def get_init_inputs():
    return []
"""
WRITTEN = "PyTorch operators written from the equations"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("program")
    (out / "rows.ucut").write_text(EQUATIONS)
    (out / "rows.py").write_text(MODULE)
    return out


@pytest.fixture(scope="module")
def call(program, folder):
    def run(*arguments):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=folder, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module", params=["written", "module"])
def optimized(request, call, folder):
    """The report of a search of a few trials, and its folder."""
    of = ["--of", "rows.py"] if request.param == "module" else []
    few = ["--device", "gpu", "--budget", "10s,6trials", "--no-baselines", "--quiet", "--store", "store"]
    text = call("optimize", "rows.ucut", *of, *few, "--out", request.param)
    out = folder / request.param
    return request.param, json.loads((out / "report.json").read_text()), out, text


def test_kernels_are_verified_and_timed(optimized):
    kind, report, out, text = optimized
    assert report["outcome"] == "faster", text
    assert not report["predicted"] and report["verdict"].startswith("passed ")
    assert report["headline"]["speedup"] > 1 and report["headline"]["original"]["median"] > 0
    first = report["candidates"][0]
    assert (first["what"], first["state"], first["meaning"]) == ("the given schedule", "verified", "proved")
    assert (out / "model_new.py").exists() and "kernel " in (out / "program.ucut").read_text()


def test_reports_name_the_original(optimized):
    kind, report, out, text = optimized
    markdown = (out / "report.md").read_text()
    assert (out / "problem.py").exists() == (kind == "written")
    if kind == "written":
        assert report["original"].startswith(WRITTEN) and WRITTEN in text and WRITTEN in markdown
    else:
        assert report["original"].endswith("rows.py") and WRITTEN not in text + markdown
        assert any("its equations are the module's: " in warning for warning in report["warnings"])


def test_the_drop_in_computes_the_same(optimized):
    kind, report, out, text = optimized
    spec = importlib.util.spec_from_file_location(f"program_{kind}", out / "model_new.py")
    scope = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scope)
    torch.manual_seed(1)
    old, new = scope.Model().cuda(), scope.ModelNew().cuda()
    new.load_state_dict(old.state_dict())
    inputs = [value.cuda() for value in scope.get_inputs()]
    with torch.no_grad():
        torch.testing.assert_close(new(*inputs), old(*inputs), rtol=1e-4, atol=1e-5)
    assert new.seen.item() == old.seen.item()


def test_a_program_is_run_by_itself(call):
    body = json.loads(call("run", "rows.ucut", "--device", "gpu", "--quiet", "--json"))
    assert not body["predicted"] and body["trial"]["state"] == "verified"
    assert body["original"] > 0 and body["original_is"].startswith(WRITTEN)
