"""Time by kernel of a trial on a real GPU: what CUPTI says of each, beside the cost models."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from conftest import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "python"))

MODULE = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2048, 1024, bias=False)
    def forward(self, x):
        return torch.softmax(self.linear(x), dim=1)
def get_inputs(): return [torch.randn(4096, 2048)]
def get_init_inputs(): return []
"""

PROGRAM = """
program two
dim M = 4096, N = 1024, K = 2048
param w : f32[N, K] "linear.weight"
input x : f32[M, K]
tensor z : f32[M, N]
output y : f32[M, N]
kernel product by gemm(math=fp16x3) {
  z[m,n] = sum[k](x[m,k] * w[n,k])
}
kernel soft by rows() {
  y[m,n] = exp(z[m,n] - max[j](z[m,j])) / sum[j](exp(z[m,j] - max[i](z[m,i])))
}
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    from solstice.errors import OracleError
    from solstice.launch import find_program

    try:
        program = find_program()
    except OracleError as error:
        pytest.skip(f"{error.message}: nothing was run")
    folder = tmp_path_factory.mktemp("by_kernel")
    (folder / "two.py").write_text(MODULE)
    (folder / "two.ucut").write_text(PROGRAM)
    command = [program, "run", str(folder / "two.ucut"), "--of", str(folder / "two.py"), "--device", "gpu"]

    def run(*options):
        done = subprocess.run([*command, *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_a_trial_has_the_time_of_each_kernel(ran):
    trial = json.loads(ran("--json"))["trial"]
    trace = trial["record"]["trace"]
    print(json.dumps(trace, indent=1))
    if not trace["kernels"]:
        assert "CUPTI" in trace["note"], trace["note"]
        pytest.skip(trace["note"])
    assert [kernel["kernel"] for kernel in trace["kernels"]] == ["product", "soft"]
    assert [step["step"] for step in trace["kernels"][0]["steps"]] == ["product-split", "product", "product-fallback"]
    for kernel in trace["kernels"]:
        assert kernel["measured"] > 0 and kernel["predicted"] > 0
    whole = sum(kernel["measured"] for kernel in trace["kernels"])
    print(
        f"kernels {whole * 1e6:.1f} us of a trial's {trial['time'] * 1e6:.1f} us; the trial took {trial['cost']:.3f} s"
    )
    assert 0.5 * trial["time"] < whole < 1.1 * trial["time"]


def test_run_says_it_in_words(ran):
    text = ran()
    print(text)
    assert "kernel `product` " in text or "no times by kernel: " in text
