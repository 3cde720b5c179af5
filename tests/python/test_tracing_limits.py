"""What cannot be traced faithfully is repaired, or refused with its cause, its line and the way out."""

import json
import subprocess

import pytest
import torch
from conftest import ROOT

from solstice.errors import OracleError
from solstice.loading import load_file
from solstice.tracing import trace

CHECKER = ROOT / "build" / "tests" / "import_check"
HEADER = "import random, torch, torch.nn as nn, torch.nn.functional as F\nimport torch.utils.checkpoint\n"
FORWARD_LINE = 9  # where the body of `forward` begins if the constructor has one line


@pytest.fixture
def subject_of(write_model):
    def make(forward, init="pass", inputs="[torch.rand(3, 8)]", args="self, x", top="calls = 0"):
        lines = [HEADER + top, "class Model(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        lines += [f"        {line}" for line in init.split("\n")]
        lines += [f"    def forward({args}):", *(f"        {line}" for line in forward.split("\n"))]
        lines += [f"def get_inputs(): return {inputs}", "def get_init_inputs(): return []"]
        return load_file(write_model("\n".join(lines)))

    return make


def ops(graph):
    return [node["op"].removeprefix("aten.") for node in graph["nodes"]]


def imported(graph, folder):
    """The answer of import_check, or its error text."""
    if not CHECKER.exists():
        pytest.skip(f"{CHECKER} is not built: `./x build`")
    path = folder / "graph.json"
    path.write_text(json.dumps(graph))
    done = subprocess.run([CHECKER, path], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


REFUSED = {
    "branch": (
        "return x * 2 if x.sum() > 0 else x",
        {},
        "the flow of control depends on the values of a tensor: `return x * 2",
        "torch.where",
    ),
    "no elements": (
        "return x if x[x[:, 0] > 0].numel() == 0 else x * 2",
        {},
        "the flow of control depends on the values of a tensor: `return x if x[x[:, 0] > 0].numel()",
        "leave this branch out",
    ),
    "an exact number": (
        "return x * 2 if int((x > 0).sum()) > 3 else x",
        {},
        "the flow of control depends on the values of a tensor: `return x * 2",
        "read integers from tensors of integers",
    ),
    "loop": (
        "while x.max() > .1: x = x / 2\nreturn x",
        {},
        "the flow of control depends on the values of a tensor: `while x.max()",
        "torch.where",
    ),
    "check of values": (
        "return F.gaussian_nll_loss(x, x, x.abs() + 1)",
        {},
        "the flow of control depends on the values",
        "torch.where",
    ),
    "batch norm's average": (
        "return self.b(x)",
        {"init": "self.b = nn.BatchNorm1d(8, momentum=None)"},
        "`b` has `momentum=None`: its running statistics are divided by the number of calls",
        "give it a momentum",
    ),
    "one buffer at two paths": (
        "return self.d(self.b(x))",
        {"init": "self.b = nn.BatchNorm1d(8); self.d = nn.Sequential(self.b)"},
        "`b.running_mean` and `d.0.running_mean` share memory, and `forward` writes it",
        "eval mode",
    ),
    "a buffer and a part of it": (
        "self.p.add_(1)\nself.q.mul_(2)\nreturn x * self.q.sum()",
        {"init": "self.register_buffer('p', torch.zeros(4)); self.register_buffer('q', self.p[:2])"},
        "`p` and `q` share memory, and `forward` writes it",
        "memory of its own",
    ),
    "a quote in a name": (
        "return self.m['a\"b'](x)",
        {"init": "self.m = nn.ModuleDict({'a\"b': nn.Linear(8, 2)})"},
        'the name of the module `m.a"b`',
        "name it without quotes",
    ),
    "TorchScript": (
        "return self.s(x)",
        {"init": "self.s = torch.jit.script(nn.Linear(8, 2))"},
        "`s` is TorchScript",
        "the Python module",
    ),
    "packed sequence": (
        "return self.r(nn.utils.rnn.pack_padded_sequence(x, [4, 2], batch_first=True))[1]",
        {"init": "self.r = nn.GRU(3, 5, batch_first=True)", "inputs": "[torch.rand(2, 4, 3)]"},
        "packed sequences depend on the values of their lengths",
        "pad and mask",
    ),
    "sparse constant": (
        "return torch.sparse.mm(self.s, x)",
        {"init": "self.s = torch.eye(3).to_sparse()"},
        "`s` has the layout sparse_coo",
        "make it dense",
    ),
    "an assert on values": (
        "assert not torch.isnan(x).any()\nreturn x * 2",
        {},
        "the flow of control depends on the values of a tensor: `assert not",
        "leave the assert out",
    ),
    "CTC loss": (
        "return F.ctc_loss(x.log_softmax(2), t, (5, 5), (2, 2))",
        {"inputs": "[torch.rand(5, 2, 4), torch.ones(2, 2, dtype=torch.long)]", "args": "self, x, t"},
        "the shape of `aten._ctc_loss.default` depends on the values",
        "stays in PyTorch",
    ),
}


UNWRITABLE = {
    "a written parameter": (
        "with torch.no_grad(): self.w.mul_(.9)\nreturn x * self.w",
        "self.w = nn.Parameter(torch.ones(8))",
        "trace.parameter_written",
        "`forward` writes the parameter `w`",
        "make it a buffer",
    ),
    "torch.cond": (
        "return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))",
        "pass",
        "trace.higher_order",
        "`cond` calls functions, and values decide which of them run",
        "torch.where",
    ),
    "a generator": (
        "return x + torch.rand(8, generator=self.g)",
        "self.g = torch.Generator().manual_seed(0)",
        "trace.object",
        "draws from a generator of its own",
        "torch.manual_seed",
    ),
    "torch.instance_norm": (
        "return torch.instance_norm(x[None], None, None, self.m, self.m + 1, True, 0.1, 1e-5, False)",
        "self.register_buffer('m', torch.zeros(3))",
        "trace.hidden_mutation",
        "writes running statistics that its schema hides",
        "torch.nn.functional.instance_norm",
    ),
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_what_a_graph_cannot_hold_is_refused(subject_of, name):
    forward, init, code, message, hint = UNWRITABLE[name]
    subject = subject_of(forward, init)
    with pytest.raises(OracleError) as caught:
        trace(subject)
    error = caught.value
    assert (error.kind, error.code, error.file, error.line) == ("input", code, str(subject.path), FORWARD_LINE)
    assert message in error.message and hint in error.hint


def test_operators_under_autocast_keep_module_and_line(subject_of, tmp_path):
    forward = (
        "with torch.autocast('cpu', torch.bfloat16):\n    y = self.l(x)\n    with torch.no_grad(): z = y.exp()\n"
        "return z.float()"
    )
    graph = trace(subject_of(forward, "self.l = nn.Linear(8, 2)"))
    found = {n["op"]: (n.get("module"), n["src"]["line"]) for n in graph["nodes"]}
    assert found["aten.linear.default"] == ("l", FORWARD_LINE + 1) and found["aten.exp.default"] == (
        "",
        FORWARD_LINE + 2,
    )
    assert [file.rsplit("/", 1)[1] for file in graph["files"]] == ["model.py"]


FOUND_LATER = (
    "sparse constant",
    "one buffer at two paths",
    "a buffer and a part of it",
    "a quote in a name",
    "derivatives",
)  # in the finished graph, without a line


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_cause_line_and_way_out(subject_of, name):
    forward, rest, message, hint = REFUSED[name]
    subject = subject_of(forward, **rest)
    with pytest.raises(OracleError) as caught:
        trace(subject)
    error = caught.value
    branches = "the flow of control" in message
    assert (error.kind, error.code) == ("input", "trace.branches" if branches else "trace.not_exportable")
    assert message in error.message and hint in error.hint
    if name not in FOUND_LATER:
        assert (error.file, error.line) == (str(subject.path), FORWARD_LINE)


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
@pytest.mark.parametrize("forward", ["return self.s @ x", "return x * 2"])
def test_sparse_state_is_refused_by_name(subject_of, layout, forward):
    make = {"coo": "to_sparse", "csr": "to_sparse_csr", "csc": "to_sparse_csc"}[layout]
    subject = subject_of(forward, f"self.register_buffer('s', torch.eye(3).{make}())")
    with pytest.raises(OracleError) as caught:
        trace(subject)
    error = caught.value
    assert (error.kind, error.code, error.line) == ("input", "trace.layout", FORWARD_LINE - 1)
    assert f"`s` has the layout sparse_{layout}" in error.message and "make it dense" in error.hint


@pytest.mark.parametrize(
    "call, operator, hint",
    [
        ("torch.bincount((x * 9).long().flatten())", "aten.bincount.default", "zeros(n, device=x.device).scatter_add"),
        ("x[x > 0]", "aten.index.Tensor", "torch.where"),
        ("x.nonzero()", "aten.nonzero.default", "torch.where"),
    ],
)
def test_shapes_by_values_have_a_way_to_known_ones(subject_of, call, operator, hint):
    nodes = trace(subject_of(f"return {call}"))["nodes"]
    (node,) = [n for n in nodes if n["op"] == operator]
    assert hint in node["outs"][0]["varies"] and node["src"]["line"] == FORWARD_LINE


STATE = {
    "a global": ("global calls\ncalls += 1\nreturn x * calls", {}, "`calls (a global)`: 0 -> 1"),
    "an object": (
        "self.o.n += 1\nreturn x * self.o.n",
        {"init": "self.o = Held()", "top": "class Held: n = 0"},
        "`o.n`: absent -> 1",
    ),
    "a number drawn by Python": ("return x * random.random()", {}, "`random.getstate()`"),
    "a training flag": (
        "self.b.eval()\nreturn self.b(x)",
        {"init": "self.b = nn.BatchNorm1d(8)"},
        "`b.training`: True -> False",
    ),
    "a tensor": ("self.h = x.sum(0)\nreturn x + 1", {"init": "self.h = None"}, "`h`: None -> tensor"),
}


@pytest.mark.parametrize("name", STATE)
def test_python_state_is_refused(subject_of, name):
    forward, rest, message = STATE[name]
    with pytest.raises(OracleError) as caught:
        trace(subject_of(forward, **rest))
    assert caught.value.code == "trace.python_state" and message in caught.value.message
    assert "registered buffer" in caught.value.hint


TRACED = {
    "checkpoint": (
        "return torch.utils.checkpoint.checkpoint(self.l, x, use_reentrant=False)",
        "self.l = nn.Linear(8, 2)",
        "linear.default",
    ),
    "print": ("print(end='')\nreturn x + 1", "pass", "add.Tensor"),
    "no_grad": ("with torch.no_grad(): y = self.l(x)\nreturn y.exp()", "self.l = nn.Linear(8, 2)", "linear.default"),
    "autocast": (
        "with torch.autocast('cpu', torch.bfloat16): y = self.l(x)\nreturn y.float()",
        "self.l = nn.Linear(8, 2)",
        "_to_copy.default",
    ),
    "hook": (
        "return self.l(x)",
        "self.l = nn.Linear(8, 2)\nself.l.register_forward_hook(lambda m, i, o: o * 2)",
        "mul.Tensor",
    ),
    "vmap": ("return torch.vmap(lambda a: (a * a).sum())(x)", "pass", "sum.dim_IntList"),
    "compiled": ("return self.l(x)", "self.l = torch.compile(nn.Linear(8, 2))", "linear.default"),
    "autograd": (
        "y = x.detach().requires_grad_()\nreturn torch.autograd.grad((y**3).sum(), y)[0]",
        "pass",
        "pow.Tensor_Scalar",
    ),
    "autograd that keeps a result": (
        "y = x.detach().requires_grad_()\nreturn torch.autograd.grad(torch.tanh(y).sum(), y)[0]",
        "pass",
        "tanh_backward.default",
    ),
    "frozen batch norm": (
        "return self.b(x)",
        "self.b = nn.BatchNorm1d(8).eval()",
        "_native_batch_norm_legit_no_training.default",
    ),
}


@pytest.mark.parametrize("name", TRACED)
def test_traced_as_it_is(subject_of, name):
    forward, init, op = TRACED[name]
    graph = trace(subject_of(forward, init))
    assert op in ops(graph) and not graph["subgraphs"] and not graph["rng"]


def test_a_number_read_from_a_tensor_stays_a_tensor(subject_of, tmp_path):
    graph = trace(subject_of("return x * x.max().item()"))
    assert ops(graph) == ["max.default", "mul.Tensor"] and graph["symbols"] == {}
    assert graph["nodes"][1]["args"] == {"self": {"t": "x"}, "other": {"t": "max_1"}}
    assert "* max_out[]" in imported(graph, tmp_path)["text"]


def test_arithmetic_on_such_a_number_is_refused_with_its_line(subject_of, tmp_path):
    error = imported(trace(subject_of("return x + 2 * x.max().item()")), tmp_path)
    assert f"model.py:{FORWARD_LINE}: `aten.item.default` yields a value that is no real tensor" in error


def test_complex_numbers_are_refused_with_their_line(subject_of, tmp_path):
    error = imported(trace(subject_of("y = torch.fft.fft(x)\nreturn torch.view_as_real(y).sum(-1)")), tmp_path)
    assert f"model.py:{FORWARD_LINE}: `aten.fft_fft.default` yields complex numbers, and programs hold reals" in error


def test_float8_tensors_have_the_languages_types(subject_of, tmp_path):
    forward = "return x.to(torch.float8_e5m2).float() @ self.w.float()"
    graph = trace(subject_of(forward, "self.register_buffer('w', torch.ones(8, 8).to(torch.float8_e4m3fn))"))
    assert [s["dtype"] for s in graph["state"]] == ["e4m3"]
    answer = imported(graph, tmp_path)
    assert answer["unsupported"] == [] and ": e4m3[" in answer["text"] and "= e5m2(x[" in answer["text"]


def test_named_tuples_of_torch_are_results_one_by_one(subject_of):
    graph = trace(subject_of("return x.max(1)"))
    assert len(graph["outputs"]) == 2 and graph["out_tree"][1]["type"] == "builtins.tuple"


def test_a_module_without_results_is_refused(subject_of, tmp_path):
    assert "returns no tensor" in imported(trace(subject_of("return None")), tmp_path)


def test_random_numbers_that_no_result_needs_are_stated(subject_of):
    graph = trace(subject_of("d = torch.rand_like(x)\nreturn x * 2"))
    assert ops(graph) == ["mul.Tensor"]
    (lost,) = graph["producer"]["dropped"]
    assert lost.startswith(
        f"`aten.rand_like.default`, line {FORWARD_LINE}: `d = torch.rand_like(x)`, draws random numbers"
    )
    assert trace(subject_of("return x + torch.rand_like(x)"))["producer"]["dropped"] == []


def test_a_written_input_is_reported_with_its_line(subject_of, tmp_path):
    answer = imported(trace(subject_of("x.add_(1)\nreturn x * 2")), tmp_path)
    (written,) = answer["unsupported"]
    assert written == "user_input_mutation: the module writes its input `x`: return the new value instead"
    assert "output x_new : f32" in answer["text"]


def test_lazy_modules_get_their_parameters_before_the_trace(subject_of):
    init = "self.c = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d())\nself.l = nn.LazyLinear(2)"
    subject = subject_of("return self.l(self.c(x))", init, "[torch.rand(2, 3, 5, 5)]")
    assert type(subject.module.l) is torch.nn.Linear and subject.module.l.weight.shape == (2, 3)
    assert subject.module.c[1].num_batches_tracked == 0 and not subject.module.c[1].running_mean.any()
    assert torch.isfinite(subject.module.l.weight).all() and subject.module.l.weight.any()
    shapes = {s["fqn"]: s["shape"] for s in trace(subject)["state"]}
    assert shapes["c.0.weight"] == [4, 3, 3, 3] and shapes["l.weight"] == [2, 3]
