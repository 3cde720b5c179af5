"""Modules whose `forward` differentiates by autograd through operators of which it keeps results: imported, and their
equations compared with eager PyTorch."""

import json
import subprocess
import sys

import pytest
import torch
from conftest import ROOT

from solstice.loading import load_file
from solstice.tracing import differentiated, trace

CHECKER = ROOT / "build" / "tests" / "import_check"

FILE = """
    import torch, torch.nn as nn, torch.nn.functional as F
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            INIT
        @torch.enable_grad()
        def forward(self, x, scale=1.0):
            x = x.detach().requires_grad_()
            BODY
        @staticmethod
        def example_inputs():
            return torch.randn(SHAPE)
"""

MLP = "self.net = nn.Sequential(nn.Linear(6, 8), ACT(), nn.Linear(8, 1))"
FORCES = "e = self.net(x); return e.detach(), -torch.autograd.grad(e.sum(), x)[0]"
TWICE = """(g,) = torch.autograd.grad(self.net(x).sum(), x, create_graph=True)
            return torch.autograd.grad(g[:, 0].sum(), x)[0]"""
CASES = {
    "forces": (MLP.replace("ACT", "nn.SiLU"), FORCES, "5, 6"),
    "second derivatives": (MLP.replace("ACT", "nn.Tanh"), TWICE, "5, 6"),
    "a norm": (
        "self.net = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 1))",
        FORCES,
        "5, 6",
    ),
    "attention": (
        "self.q, self.k = nn.Linear(6, 8), nn.Linear(6, 8)",
        """a = (self.q(x) @ self.k(x).transpose(-1, -2)).softmax(-1)
            return torch.autograd.grad((a @ x).pow(2).sum(), x)[0]""",
        "2, 5, 6",
    ),
    "a step of training": (
        "self.net = nn.Linear(6, 1)",
        """loss = torch.tanh(self.net(x)).pow(2).mean()
            w, b = torch.autograd.grad(loss, (self.net.weight, self.net.bias))
            return F.linear(x, self.net.weight - 0.1 * w, self.net.bias - 0.1 * b).detach()""",
        "5, 6",
    ),
    "a buffer that is written": (
        "self.net = nn.Linear(6, 8); self.register_buffer('calls', torch.zeros(()))",
        """self.calls += 1
            return self.calls * torch.autograd.grad(torch.tanh(self.net(x)).sum(), x)[0]""",
        "5, 6",
    ),
}


@pytest.fixture
def file_of(write_model):
    def write(name):
        init, body, shape = CASES[name]
        return write_model(FILE.replace("INIT", init).replace("BODY", body).replace("SHAPE", shape), "model.py")

    return write


@pytest.mark.parametrize("name", CASES)
def test_equations_of_derivatives_agree_with_pytorch(file_of, name):
    if not CHECKER.exists():
        pytest.skip(f"{CHECKER} is not built: `./x build`")
    tool = [sys.executable, ROOT / "tools/check_field.py", "--binary", CHECKER, "--quick", "--json", file_of(name)]
    done = subprocess.run(tool, capture_output=True, text=True)
    (row,) = json.loads(done.stdout)
    assert (row["imports"], row["values"]) == ("yes", "agree")


def test_the_graph_has_the_modules_names_and_lines(file_of):
    subject = load_file(file_of("second derivatives"))
    before = [(name, id(p)) for name, p in subject.module.named_parameters()], dict(vars(subject.module))
    graph = trace(subject)
    assert graph["producer"]["mode"] == "differentiated" and graph["producer"]["unchecked"] == []
    assert [entry["id"] for entry in graph["inputs"] if entry["kind"] == "user_input"][0] == "x"
    assert {e["fqn"] for e in graph["inputs"] if e["kind"] == "parameter"} >= {"net.0.weight", "net.2.weight"}
    lines = {node["src"]["line"] for node in graph["nodes"] if "tanh_backward" in node["op"]}
    assert lines == {10, 11}
    assert before == ([(name, id(p)) for name, p in subject.module.named_parameters()], dict(vars(subject.module)))
    assert "forward" not in vars(subject.module)


class Product(torch.nn.Module):
    def forward(self, x, factor):
        x = x.detach().requires_grad_()
        return {"grad": torch.autograd.grad((torch.tanh(x) * factor).sum(), x)[0], "factor": 2 * factor}


def test_inputs_by_name_are_the_same_tensors_in_any_order():
    module, x, factor = Product(), torch.randn(3), torch.randn(3)
    program = differentiated.export(module, (), {"factor": factor, "x": x}).module()
    torch.testing.assert_close(program(x=x, factor=factor), module(x, factor))


ELSEWHERE = {
    "a transform": ("", "return torch.func.grad(lambda r: self.h(r).sum())(x.detach())"),
    "rows of a Jacobian": ("", "return torch.vmap(torch.func.jacrev(self.h))(x.detach())"),
    "a method": ("", "return self.field(x)"),
    "a method, twice": ("", "return x + self.field(x + 0.1 * self.field(x))"),
    "a function of the file": ("slope = lambda f, x: torch.autograd.grad(f(x).sum(), x)[0]", "return slope(self.h, x)"),
    "a function under another name": ("from torch.autograd import grad as d", "return d(self.h(x).sum(), x)[0]"),
    "backward in a function": (
        "def slope(f, x):\n    f(x).sum().backward(inputs=[x])\n    return x.grad",
        "return slope(self.h, x)",
    ),
}


@pytest.mark.parametrize("top, body", ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_forward_calls_may_differentiate(write_model, top, body):
    text = f"""import torch, torch.nn as nn
{top}
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    def field(self, x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(self.h(x).tanh().sum(), x)[0]
    @torch.enable_grad()
    def forward(self, x):
        x = x.detach().requires_grad_()
        {body}
def get_inputs(): return [torch.randn(5, 4)]
"""
    graph = trace(load_file(write_model(text)))
    assert graph["producer"]["mode"] == "differentiated" and graph["producer"]["unchecked"] == []
