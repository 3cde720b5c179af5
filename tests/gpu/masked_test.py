"""Products whose masks meet NaN and infinities: the drop-in is kept, and what is left out is said."""

import json
import subprocess

import pytest

torch = pytest.importorskip("torch")

MODEL = """
import torch
import torch.nn.functional as F
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(256, 256))
    def forward(self, {arguments}):
        return {result}
def get_inputs(): return [{inputs}]
def get_init_inputs(): return []
"""
QKV = "torch.randn(1, 2, 64, 32), torch.randn(1, 2, 64, 32), torch.randn(1, 2, 64, 32)"
SQUARE = "torch.randn(256, 256)"
LEFT_OUT = "0 * NaN is not computed"

CASES = {
    "triangle": ("x", "torch.tril(self.w) @ x", SQUARE),
    "two_triangles": ("x, z", "torch.tril(torch.tril(x) @ torch.tril(z))", f"{SQUARE}, {SQUARE}"),
    "masked_scores": ("q, k, v", "torch.tril(q @ k.mT) @ v", QKV),
    "causal": ("q, k, v", "F.scaled_dot_product_attention(q, k, v, is_causal=True)", QKV),
    "boolean_mask": (
        "q, k, v, m",
        "F.scaled_dot_product_attention(q, k, v, attn_mask=m)",
        QKV + ", torch.ones(64, 64).tril().bool()",
    ),
    "minus_infinity": (
        "q, k, v",
        "(q @ k.mT).masked_fill(torch.ones(64, 64, device=q.device).triu(1).bool(), -torch.inf).softmax(-1) @ v",
        QKV,
    ),
    "diagonal": ("a, b", "torch.diag(a) @ b", "torch.randn(2048), torch.randn(2048, 1024)"),
    "running_sum": ("x", "x @ torch.ones(512, 512, device=x.device).triu()", "torch.randn(2048, 512)"),
}


@pytest.fixture
def optimize(program, tmp_path):
    """The report of a case, and its text."""

    def run(name, *options):
        arguments, result, inputs = CASES[name]
        (tmp_path / "model.py").write_text(MODEL.format(arguments=arguments, result=result, inputs=inputs))
        out = tmp_path / "out"
        command = [program, "optimize", str(tmp_path / "model.py"), "--budget", "15s,6trials", "--no-baselines"]
        done = subprocess.run(
            [*command, *options, "--store", str(tmp_path / "store"), "--out", str(out)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads((out / "report.json").read_text()), (out / "report.md").read_text(), out

    return run


@pytest.mark.parametrize("rewrites", ["on", "strict"])
@pytest.mark.parametrize("name", CASES)
def test_no_candidate_is_lost_to_nan(optimize, name, rewrites):
    report, text, _ = optimize(name, "--rewrites", rewrites)
    assert "are NaN or infinite where PyTorch's are not" not in text, text
    assert report["outcome"] in ("faster", "not faster"), text
    if rewrites == "strict" and name != "causal":
        assert LEFT_OUT not in text


@pytest.mark.parametrize("name", ["diagonal", "running_sum"])
def test_what_is_left_out_is_said(optimize, name):
    report, text, out = optimize(name)
    assert report["outcome"] == "faster", text
    assert LEFT_OUT in text
    assert LEFT_OUT in (out / "model_new.py").read_text()


def test_strict_keeps_the_nan(optimize):
    report, text, out = optimize("diagonal", "--rewrites", "strict")
    assert "leave_out_zeros" not in text
    if report["outcome"] == "faster":
        assert LEFT_OUT not in (out / "model_new.py").read_text()
