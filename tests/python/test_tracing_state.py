"""State outside of parameters and buffers, and a tracer's run that is not eager PyTorch's, are refused with
their line."""

import pytest
import torch
from torch import nn

from solstice.errors import OracleError
from solstice.loading import load_file
from solstice.tracing import eager, real_run, trace
from solstice.tracing.export import export_functional

HEADER = """import collections, functools, itertools, random, threading
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F
def counting():
    n = 0
    def f(x):
        nonlocal n
        n += 1
        return x * n
    return f
def endless():
    while True: yield 2.0
def default(x, seen=[]):
    seen.append(1)
    return x * len(seen)
class Slots:
    __slots__ = ("n",)
    def __init__(self): self.n = 0
total = torch.zeros(())
class Monitor(threading.Thread):
    woken = 0
monitor = Monitor()
@functools.lru_cache(None)
def table(n): return torch.arange(n) * 1.0
"""


@pytest.fixture
def subject_of(write_model):
    def make(forward, init="pass", inputs="[torch.rand(3, 8)]", body="pass"):
        lines = [
            HEADER + "class Model(nn.Module):",
            f"    {body}",
            "    def __init__(self):",
            "        super().__init__()",
        ]
        lines += [f"        {line}" for line in init.split("\n")]
        lines += ["    def forward(self, x):", *(f"        {line}" for line in forward.split("\n"))]
        lines += [f"def get_inputs(): return {inputs}", "def get_init_inputs(): return []"]
        return load_file(write_model("\n".join(lines)))

    return make


def refusal(subject):
    with pytest.raises(OracleError) as caught:
        trace(subject)
    return caught.value


def text_at(error):
    return open(error.file).read().split("\n")[error.line - 1].strip()


# forward, constructor, what the message says, the text of the line
STATE = {
    "a tensor": (
        "self.h = self.h + x\nreturn self.h",
        "self.h = torch.zeros(3, 8)",
        "`h`: tensor -> another",
        "self.h = self.h + x",
    ),
    "a cell's state": (
        "self.h = self.c(x, self.h)\nreturn self.h",
        "self.c, self.h = nn.GRUCell(8, 8), torch.zeros(3, 8)",
        "`h`: tensor -> another",
        "self.h = self.c(x, self.h)",
    ),
    "a tuple": (
        "y, self.h = self.r(x, self.h)\nreturn y",
        "self.r, self.h = nn.LSTM(8, 8), (torch.zeros(1, 8), torch.zeros(1, 8))",
        "`h[0]`: tensor -> another",
        "y, self.h = self.r(x, self.h)",
    ),
    "a list of tensors": (
        "self.l[0] = self.l[0] + 1\nreturn x + self.l[0]",
        "self.l = [torch.zeros(8)]",
        "`l[0]`: tensor -> another",
        "self.l[0] = self.l[0] + 1",
    ),
    "a tensor written in place": (
        "self.l[0].add_(1)\nreturn x + 1",
        "self.l = [torch.zeros(8)]",
        "`l[0]`: tensor -> another",
        "self.l[0].add_(1)",
    ),
    "a global tensor": (
        "global total\ntotal = total + x.mean()\nreturn x + total",
        "pass",
        "`total (a global)`: tensor -> another",
        "total = total + x.mean()",
    ),
    "another parameter": (
        "self.w = nn.Parameter(self.w * .9)\nreturn x * self.w",
        "self.w = nn.Parameter(torch.ones(8))",
        "`w`: parameter -> another",
        "self.w = nn.Parameter(self.w * .9)",
    ),
    "a table of the first call": (
        "if self.t is None: self.t = torch.arange(8.)\nreturn x + self.t",
        "self.t = None",
        "`t`: None -> tensor",
        "if self.t is None: self.t = torch.arange(8.)",
    ),
    "a table by shape": (
        "n = x.shape[1]\nif n not in self.t: self.t[n] = torch.arange(n)\nreturn x + self.t[n]",
        "self.t = {}",
        "`t`: {} -> {8: tensor}",
        "if n not in self.t: self.t[n] = torch.arange(n)",
    ),
    "a class": (
        "type(self).k += 1\nreturn x * self.k",
        "pass",
        "`Model.k (of the class)`: 0 -> 1",
        "type(self).k += 1",
    ),
    "a closure": ("return self.f(x)", "self.f = counting()", "`n (a variable around `f`)`: 0 -> 1", "n += 1"),
    "a default": ("return default(x)", "pass", "`seen (a default of `default`)`: [] -> [1]", "seen.append(1)"),
    "an attribute of a function": (
        "default.n = getattr(default, 'n', 0) + 1\nreturn x * default.n",
        "pass",
        "`default.n`: absent -> 1",
        "default.n = getattr(default, 'n', 0) + 1",
    ),
    "slots": ("self.s.n += 1\nreturn x * self.s.n", "self.s = Slots()", "`s.n`: 0 -> 1", "self.s.n += 1"),
    "an iterator": (
        "return x * next(self.i)",
        "self.i = itertools.count(1)",
        "`i`: count -> another",
        "return x * next(self.i)",
    ),
    "a generator": (
        "return x * next(self.i)",
        "self.i = endless()",
        "`i`: generator -> another",
        "return x * next(self.i)",
    ),
    "a deque": (
        "self.d.append(2.)\nreturn x * sum(self.d)",
        "self.d = collections.deque([1.], 3)",
        "`d`: deque of 1 -> deque of 2",
        "self.d.append(2.)",
    ),
    "an array": (
        "self.a += 1\nreturn x * float(self.a[0])",
        "self.a = np.ones(2)",
        "`a`: ndarray -> another",
        "self.a += 1",
    ),
    "NumPy's generator": (
        "return x * float(self.g.random())",
        "self.g = np.random.default_rng(0)",
        "`g`: Generator -> another",
        "return x * float(self.g.random())",
    ),
    "Python's generator": (
        "return x * self.g.random()",
        "self.g = random.Random(0)",
        "`g`: Random -> another",
        "return x * self.g.random()",
    ),
}


@pytest.mark.parametrize("name", STATE)
def test_state_outside_of_buffers_is_refused(subject_of, name):
    forward, init, message, text = STATE[name]
    error = refusal(subject_of(forward, init, body="k = 0"))
    assert error.code == "trace.python_state" and message in error.message
    assert "register_buffer" in error.hint and text_at(error) == text


NO_STATE = {
    "masks by the size and the place of the input": (
        "m = torch.tril(torch.ones(x.shape[0], 3, device=x.device)).to(x.dtype)\n"
        "y = x[self.i] + self.p[: x.shape[0]].to(x.device) if x.device.type == 'cpu' and not x.is_cuda else x\n"
        "return (m * self.p[:3, :3]) @ y + x.new_zeros(8) + torch.tensor([1.] * 8)",
        "self.i, self.p = torch.tensor([2, 0, 1]), torch.rand(9, 8)",
    ),
    "attributes that a call sets as it found them": (
        "self.size = list(x.shape)\nreturn x * self.size[1]",
        "self.size = [3, 8]",
    ),
    "a constant moved to where the input is": (
        "self.t = self.t.to(x.device)\nself.l = [t.to(x) for t in self.l]\nreturn x + self.t + self.l[0]",
        "self.t, self.l = torch.ones(8), [torch.ones(8)]",
    ),
    "a cached function": ("return x + table(x.shape[1])", "pass"),
    "what another thread counts": ("monitor.woken += 1\nreturn x * 2", "pass"),
    "a recurrent layer": ("return self.r(x)[0]", "self.r = nn.LSTM(8, 4)"),
    "weights that PyTorch's hooks make": (
        "return self.b(self.a(x))",
        "self.a = nn.utils.weight_norm(nn.Linear(8, 8))\nself.b = nn.utils.spectral_norm(nn.Linear(8, 8))",
    ),
    "running statistics": ("return self.b(x)", "self.b = nn.BatchNorm1d(8)"),
    "a buffer that is set": (
        "self.b = self.b * .9 + x.sum(0)\nreturn x + self.b",
        "self.register_buffer('b', torch.zeros(8))",
    ),
}


@pytest.mark.parametrize("name", NO_STATE)
def test_what_is_no_state_is_traced(subject_of, name):
    subject = subject_of(*NO_STATE[name])
    producer = trace(subject)["producer"]
    assert producer["notes"] == producer["unchecked"] == []
    held = [t for m in subject.module.modules() for v in vars(m).values() for t in (v if isinstance(v, list) else [v])]
    tensors = [t for t in held if isinstance(t, torch.Tensor)]
    assert {type(t) for t in tensors} <= {torch.Tensor, nn.Parameter} and not any(t.is_meta for t in tensors)


def test_a_cached_function_keeps_no_tensor_of_the_trace(subject_of):
    subject = subject_of("return x + table(x.shape[1])")
    trace(subject)
    assert type(subject.module(torch.rand(3, 8))) is torch.Tensor


def test_code_is_told_that_it_is_not_compiled(subject_of):
    for asked in ("is_compiling", "is_exporting"):
        (node,) = trace(subject_of(f"return x * 2 if torch.compiler.{asked}() else x * 3"))["nodes"]
        assert node["args"]["other"] == 3
    assert not torch.compiler.is_compiling() and torch.compiler.is_compiling.__code__.co_filename.endswith(
        "compiler/__init__.py"
    )


UNLIKE = {
    "the class of a tensor": "return x * 2 if type(x) is torch.Tensor else x * 3",
    "the name of the class": "return x * 2 if 'Fake' in type(x).__name__ else x * 3",
    "a layer chosen by it": "return self.a(x) if type(x) is torch.Tensor else self.b(x)",
}


@pytest.mark.parametrize("name", UNLIKE)
def test_a_tracers_run_unlike_eager_is_refused(subject_of, name):
    error = refusal(subject_of(UNLIKE[name], "self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)"))
    assert error.code == "trace.unlike_eager" and "eager" in error.message and text_at(error).startswith("return")
    assert "class of a tensor" in error.hint


BEHIND = {
    "a buffer": "self.b.data = x * 2\nreturn self.b + 1",
    "a parameter": "self.w.data = self.w * .9\nreturn x * self.w",
    "in place": "self.b.data.copy_(x)\nreturn self.b + 1",
    "an element": "self.b.data[0] = 1\nreturn self.b + x",
    "set_": "self.b.set_(x)\nreturn self.b + 1",
}


@pytest.mark.parametrize("forward", BEHIND.values(), ids=BEHIND)
def test_other_memory_under_a_tensor_is_refused(subject_of, forward):
    error = refusal(
        subject_of(forward, "self.w = nn.Parameter(torch.ones(8))\nself.register_buffer('b', torch.zeros(3, 8))")
    )
    assert error.code == "trace.replaced_storage" and text_at(error) == forward.split("\n")[0] and "copy_" in error.hint


def test_a_refusal_leaves_no_mode_behind(subject_of):
    modes = lambda: (torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack())
    before = modes()
    refusal(subject_of(BEHIND["in place"], "self.register_buffer('b', torch.zeros(3, 8))"))
    assert modes() == before


def test_the_eager_run_needs_no_memory():
    module = torch.nn.Linear(8, 8)
    huge = torch.empty(1 << 40, 8, device="meta")
    found = eager.calls_of(module, (huge,), {})
    assert [call.name for call in found.made] == ["linear"]
    assert found.made[0].arguments[1] == "`weight` : float32[8, 8]"


def test_a_module_itself_is_as_it_was(subject_of):
    subject = subject_of("self.h = x\nself.n += 1\nreturn x", "self.h, self.n = None, 0")
    refusal(subject)
    assert subject.module.h is None and subject.module.n == 0


def test_functions_that_read_the_values_of_constants_are_traced():
    class Reads(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.tensor(2.0)

        def forward(self, x):
            return x * self.scale.item()

    _, producer = export_functional(Reads(), (torch.rand(3),), {})
    assert producer["notes"] == producer["unchecked"] == []


STRICT = {  # what only the strict tracer takes
    "an array": ("return x + torch.from_numpy(np.tanh(x.detach().numpy()))", "pass", None),
    "a number from a buffer": ("return x * int(self.n)", "self.register_buffer('n', torch.tensor(2))", None),
    "state": (
        "self.k += 1\nreturn x * int(self.n) * self.k",
        "self.register_buffer('n', torch.tensor(2))\nself.k = 0",
        "trace.python_state",
    ),
    "a list": (
        "self.l.append(1)\nreturn x * int(self.n) * len(self.l)",
        "self.register_buffer('n', torch.tensor(2))\nself.l = []",
        "trace.python_state",
    ),
    "whether it is compiled": (
        "return x * int(self.n) * (2 if torch.compiler.is_compiling() else 3)",
        "self.register_buffer('n', torch.tensor(2))",
        "trace.unlike_eager",
    ),
    **{
        f"whether it is compiled, under a mask of {mask}": (
            "y = x * (4 if torch.compiler.is_compiling() else int(self.n))\nreturn y" + masked,
            "self.register_buffer('n', torch.tensor(3))",
            "trace.unlike_eager",
        )
        for mask, masked in {
            "infinities": ".masked_fill(torch.ones(3, 8).triu(1).bool(), -torch.inf)",
            "NaN": ".masked_fill(torch.ones(3, 8).triu(1).bool(), torch.nan)",
            "large numbers": ".masked_fill(torch.ones(3, 8).triu(1).bool(), -1e9)",
            "large summands": " - 1e4 * torch.ones(3, 8).triu(4)",
        }.items()
    },
    "infinities where it is compiled": (
        "return x * int(self.n) / (0 if torch.compiler.is_compiling() else 1)",
        "self.register_buffer('n', torch.tensor(3))",
        "trace.unlike_eager",
    ),
    "infinities and NaN": (
        "m = torch.ones(3, 8).triu(int(self.n))\n"
        "return x.masked_fill(m.bool(), -torch.inf), x.masked_fill(m.bool(), torch.nan)",
        "self.register_buffer('n', torch.tensor(2))",
        None,
    ),
}


@pytest.mark.parametrize("name", STRICT)
def test_what_only_the_strict_tracer_takes_runs_for_real(subject_of, name):
    forward, init, code = STRICT[name]
    subject = subject_of(forward, init)
    if code is None:
        producer = trace(subject)["producer"]
        assert producer["mode"] == "strict" and producer["unchecked"] == []
    else:
        error = refusal(subject)
        assert error.code == code and error.line


def test_large_modules_do_not_run(subject_of):
    subject = subject_of(
        "return x * int(self.n)", "self.register_buffer('n', torch.tensor(2))", "[torch.rand(5000, 5000)]"
    )
    [why] = trace(subject)["producer"]["unchecked"]
    assert why == "the trace was not compared with eager PyTorch: it is too large"


UNREGISTERED = {  # constructor, forward, the name
    "layers in a list": ("self.ls = [nn.Linear(8, 8)]", "return self.ls[0](x)", "ls[0].weight"),
    "blocks in a dict": (
        "self.ls = {'a': nn.Sequential(nn.Linear(8, 8))}",
        "return self.ls['a'](x)",
        "ls['a'].0.weight",
    ),
    "parameters in a list": ("self.ps = [nn.Parameter(torch.rand(8))]", "return x * self.ps[0]", "ps[0]"),
}


@pytest.mark.parametrize("name", UNREGISTERED)
def test_unregistered_parameters_are_refused(subject_of, name):
    init, forward, said = UNREGISTERED[name]
    error = refusal(subject_of(forward, init))
    assert (
        error.code == "trace.unregistered_parameter" and f"`{said}`" in error.message and "nn.ModuleList" in error.hint
    )
    assert text_at(error) == forward


def test_an_unregistered_network_may_be_frozen_on_purpose(subject_of):
    subject = subject_of("return self.teacher[0](x)", "self.teacher = [nn.Linear(8, 8).requires_grad_(False)]")
    assert [note.split("`")[1] for note in trace(subject)["producer"]["frozen"]] == [
        "teacher[0].weight",
        "teacher[0].bias",
    ]


@pytest.mark.parametrize("strict", [False, True])
def test_other_unregistered_tensors_are_noted(subject_of, strict):
    init = (
        "self.scale = torch.rand(8)\nself.t = {'a': [torch.rand(8)]}\nself.unread = torch.rand(8)\n"
        "self.register_buffer('n', torch.tensor(3))"
    )
    forward = "return x * self.scale + self.t['a'][0] + torch.tensor([1.0])" + (
        " * int(self.n)" if strict else " * self.n"
    )
    producer = trace(subject_of(forward, init))["producer"]
    assert producer["mode"] == ("strict" if strict else "nonstrict")
    assert [note.split("`")[1] for note in producer["frozen"]] == ["scale", "t['a'][0]"]
    assert all("register_buffer" in note for note in producer["frozen"])


def test_random_draws_are_not_compared(subject_of):
    subject = subject_of("return F.dropout(x) * int(self.n)", "self.register_buffer('n', torch.tensor(2))")
    [why] = trace(subject)["producer"]["unchecked"]
    assert why == "the trace was not compared with eager PyTorch: it draws random numbers"


def test_more_results_are_a_difference():
    x = torch.rand(3)
    assert real_run.distance([x, x], [x]) == torch.inf
    assert real_run.distance([x, x], [x, x.clone()]) == 0
