"""Results and arguments of classes that PyTorch's trees give no name: traced, compared, and made again by a drop-in."""

import json
import typing
from collections import OrderedDict
from dataclasses import dataclass

import pytest
import torch
from host_dropin import HostDevice
from torch.utils import _pytree as pytree

from solstice import dropin
from solstice.dropin import forms
from solstice.dropin.runtime import Runtime
from solstice.errors import OracleError
from solstice.loading import load_file
from solstice.oracle import running
from solstice.tracing import trace
from solstice.tracing.export import export_calls

HEAD = """import torch, torch.nn as nn, typing
from collections import OrderedDict
from dataclasses import dataclass, field, fields
"""
NAMED = "class Out(typing.NamedTuple):\n    a: torch.Tensor\n    b: torch.Tensor\n"
DATA = "@dataclass\nclass Out:\n    a: torch.Tensor\n    b: torch.Tensor = None\n    c: torch.Tensor = None\n"
ORDERED = "class Out(OrderedDict): pass\n"
# As the model outputs of a known library are: a dict of the fields that are not None.
MODEL_OUTPUT = """@dataclass
class Out(OrderedDict):
    a: torch.Tensor = None
    b: torch.Tensor = None
    c: torch.Tensor = None
    def __post_init__(self):
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        self.update({name: value for name, value in given.items() if value is not None})
"""
KINDS = {
    "named tuple": (NAMED, "Out(x * 2, x + 1)"),
    "nested": (NAMED, "[{'k': Out(x * 2, (x + 1).max(0))}]"),
    "dataclass": (DATA, "Out(x * 2, c=x + 1)"),
    "frozen dataclass": (DATA.replace("@dataclass", "@dataclass(frozen=True)"), "Out(x * 2, (x, Out(x + 1)))"),
    "ordered dict": (ORDERED, "Out(a=x * 2, b=x + 1)"),
    "model output": (MODEL_OUTPUT, "Out(x * 2, c=(x + 1, x.exp()))"),
}
REFUSED = {
    "unknown class": (
        "class Out:\n    def __init__(self, a): self.a = a\n",
        "Out(x * 2)",
        "holds a `Out`",
        "dataclasses",
    ),
    "class of a function": (
        f"def make():\n    {NAMED[:-1].replace(chr(10), chr(10) + '    ')}\n    return Out\nOut = make()\n",
        "Out(x * 2, x)",
        "cannot be made again of its parts: the class `make.<locals>.Out` of the result is not found",
        "at the top of a file",
    ),
    "constructor with a rule": (
        DATA + "    def __post_init__(self):\n        self.a = self.a + 1\n",
        "Out(x * 2)",
        "cannot be made again of its parts: made again, it is another",
        "of its parts alone",
    ),
}


@pytest.fixture
def subject_of(write_model):
    def make(classes, result, inputs="[torch.rand(3, 8)]"):
        body = f"class Model(nn.Module):\n    def forward(self, x):\n        return {result}\n"
        return load_file(write_model(f"{HEAD}{classes}{body}def get_inputs(): return {inputs}\n"))

    return make


def made_again(module, graph, leaves):
    """As a drop-in does it."""
    tree = json.loads(json.dumps(graph["out_tree"]))
    form = tree[2] if len(tree) > 2 else None
    value = pytree.tree_unflatten(leaves, pytree.treespec_loads(json.dumps(tree[:2])))
    return forms.rebuilt(value, form, forms.found(form, module))


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    return a == b if not hasattr(a, "__dict__") else same(vars(a), vars(b))


@pytest.mark.parametrize("classes, result", KINDS.values(), ids=KINDS)
def test_results_are_traced_and_made_again(subject_of, classes, result):
    subject = subject_of(classes, result)
    graph = trace(subject)
    (x,), _ = subject.inputs()
    wanted = subject.module(x)
    values = list(running.run(subject.module, (x,), {}, 0).values())
    assert len(values) == len(graph["outputs"]) and all(o["kind"] == "user_output" for o in graph["outputs"])
    assert same(made_again(subject.module, graph, values), wanted)


@pytest.mark.parametrize("classes, result", KINDS.values(), ids=KINDS)
def test_the_whole_graph_has_the_same_results(subject_of, classes, result):
    subject = subject_of(classes, result)
    (x,), _ = subject.inputs()
    got = export_calls(subject.module, (x,), {}).module()(x)
    values = running.run(subject.module, (x,), {}, 0).values()
    assert all(map(torch.equal, pytree.tree_leaves(forms.plain(got)), values))


@pytest.mark.parametrize("classes, result, message, hint", REFUSED.values(), ids=REFUSED)
def test_other_results_are_refused_by_name(subject_of, classes, result, message, hint):
    with pytest.raises(OracleError) as caught:
        trace(subject_of(classes, result))
    error = caught.value
    assert error.code == "trace.result" and message in error.message and hint in error.hint and error.line


def test_arguments_may_be_named_tuples(subject_of):
    inputs = "[Out(torch.rand(3), torch.rand(3))]"
    graph = trace(subject_of(NAMED, "x.a + x.b", inputs))
    assert graph["in_tree"][2]["parts"]["0"]["parts"]["0"]["class"] == ["", "Out"]


class Pair(typing.NamedTuple):
    a: torch.Tensor
    b: torch.Tensor


@dataclass
class Fields:
    a: torch.Tensor
    b: typing.Any = None


class Ordered(OrderedDict):
    pass


def _written(value):
    return json.loads(pytree.treespec_dumps(pytree.tree_structure(forms.plain(value))))


@pytest.mark.parametrize("value", [Pair(0, 1), Fields(0, 1), Ordered(a=0, b=1), [Fields(0), Pair(1, 0)]])
def test_a_dropin_gives_back_the_class(subject, record, value):
    order = pytree.tree_leaves(forms.plain(value))
    results = [{"buffer": "y"} if leaf == 0 else {"value": 7} for leaf in order]
    module = subject.module({**record, "results": results, "out_tree": [*_written(value), forms.form_of(value)]})
    for _ in range(3):  # slowly, then by the fast function
        result, fast = subject.call(module=module)
        assert fast and type(result) is type(value)
        for leaf, made in zip(order, pytree.tree_leaves(forms.plain(result))):
            assert torch.equal(made, subject.original(subject.x)) if leaf == 0 else made == 7


def test_a_dropin_takes_only_arguments_of_the_recorded_classes(subject, record, tmp_path):
    arguments = [*record["arguments"], {"value": 7}]
    tree = [*_written(((Pair(0, 0),), {})), forms.form_of(((Pair(0, 0),), {}))]
    recording = dropin.read(str(tmp_path), {**record, "arguments": arguments, "in_tree": tree})
    flatten = Runtime(subject.original, recording, HostDevice.of).flatten
    assert flatten((Pair(subject.x, 7),), {}) == [subject.x, 7]
    assert flatten(((subject.x, 7),), {}) is None and flatten((subject.x, 7), {}) is None
