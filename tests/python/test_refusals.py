"""Modules that PyTorch itself does not run, custom operators, and the words and places of what is refused."""

import re

import pytest
import torch

from solstice.errors import OracleError, said
from solstice.loading import load_file
from solstice.tracing import trace

HEAD = "import torch\nfrom torch import nn\n"
CUSTOM = """@torch.library.custom_op("{space}::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2
"""
FAKE = "@twice.register_fake\ndef _(x): return torch.empty_like(x)\n"


@pytest.fixture
def refused(write_model):
    """The refusal of a module with this body of `forward`, its line 6 on."""

    def run(forward, top="", inputs="[torch.rand(4, 8)]"):
        body = "".join(f"        {line}\n" for line in forward.split("\n"))
        text = f"{HEAD}{top}class Model(nn.Module):\n    layer = nn.Linear(9, 8)\n    def forward(self, x):\n{body}"
        with pytest.raises(OracleError) as caught:
            trace(load_file(write_model(f"{text}def get_inputs(): return {inputs}\n")))
        return caught.value

    return run


def test_a_failing_forward_is_said_in_the_words_of_eager_pytorch(refused):
    error = refused("return self.layer(x)")
    assert error.message.endswith("example inputs: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x8)")
    assert (error.line, error.column, error.width) == (6, 16, len("self.layer(x)"))
    assert "shapes and dtypes" in error.hint and "shapes and dtypes" in str(error)
    assert "get_inputs" not in str(error)  # the inputs may be those of a call from Python


@pytest.mark.parametrize(
    "forward, message",
    [
        ("raise ValueError('no batch of 4')", "ValueError: no batch of 4"),
        ("assert x.dim() == 3", "AssertionError"),
        ("return {}['key']", "KeyError: 'key'"),
        ("return self.absent(x)", "'Model' object has no attribute 'absent'"),
    ],
)
def test_mistakes_of_the_module_are_no_matter_of_shapes(refused, forward, message):
    error = refused(forward)
    assert error.message.endswith(message) and error.line == 6
    assert "shapes" not in error.hint and "mend it there" in error.hint


def test_inputs_that_are_not_the_arguments_of_forward(refused):
    error = refused("return x", inputs='([torch.rand(4)], {"mask": torch.rand(4)}, 3)')
    assert "`forward(x)` cannot be called with the example inputs, 3 by position" in error.message and error.line == 5
    error = refused("return x", inputs='((torch.rand(4),), {"mask": torch.rand(4)})')
    assert "1 by position and `mask` by name" in error.message


def test_inputs_that_are_sparse(refused):
    error = refused("return x", inputs="[torch.eye(4).to_sparse()]")
    assert error.code == "load.sparse_input" and "`sparse_coo`" in error.message and error.line == 7


def test_a_custom_operator_without_shapes_is_named(refused):
    error = refused("return twice(x)", top=CUSTOM.format(space="refused_one"))
    assert "the custom operator `refused_one::twice` says nothing about the shape" in error.message
    assert "@twice.register_fake" in error.hint


@pytest.mark.parametrize("registered", [FAKE, FAKE + "twice.register_kernel('cuda')(lambda x: x * 2)\n"])
def test_a_custom_operator_is_no_state_of_the_users(write_model, registered):
    top = CUSTOM.format(space=f"refused_{len(registered)}") + registered
    text = f"{HEAD}{top}class Model(nn.Module):\n    def forward(self, x): return twice(x) + 1\n"
    graph = trace(load_file(write_model(f"{text}def get_inputs(): return [torch.rand(4)]\n")))
    assert graph["nodes"][0]["op"].endswith("twice.default")


def test_what_the_exporter_says_is_for_whoever_asks_why(refused):
    error = refused("return torch.tensor(x.untyped_storage().data_ptr() % 7) + x")
    assert error.code == "trace.not_exportable" and error.line == 6
    assert "Error" not in error.message and error.reasons and all("torch.export" in one for one in error.reasons)


def test_what_an_exception_says():
    assert said(RuntimeError("a.\nb")) == "a"
    assert said(RuntimeError("The first sentence. The second one.")) == "The first sentence. The second one"
    assert said(RuntimeError(f"The first sentence. {'long ' * 40}.")) == "The first sentence"
    assert said(RuntimeError("size 3.5 of x (4x8)")) == "size 3.5 of x (4x8)"
    assert said(KeyError("x")) == "KeyError: 'x'"
    assert said(RuntimeError()) == "RuntimeError"
    assert len(said(torch.OutOfMemoryError("x" * 999))) == 200


MIXED = {
    "linear of halves": (
        "F.linear(x.half(), self.layer.weight[:, :8])",
        "m1 and m2 to have the same dtype|mat1 and mat2",
    ),
    "linear with a bias": ("F.linear(x.half(), torch.ones(2, 8), torch.ones(2))", "same dtype"),
    "product": ("x.half() @ x.T", "same dtype"),
    "batched product": ("x[None].half() @ x.T[None]", "expected scalar type Half but found Float"),
    "product of integers": ("x.long() @ x.T", "same dtype"),
    "einsum": ("torch.einsum('ij,kj->ik', x.double(), x)", "same dtype|expected scalar type"),
    "convolution": ("F.conv1d(x.half()[None], torch.ones(2, 4, 3))", "should be the same|expected scalar type"),
    "normalisation": ("F.layer_norm(x, (8,), torch.ones(8).half())", "mixed dtype"),
    "attention": ("F.scaled_dot_product_attention(x, x.double(), x)", "same dtype"),
    "recurrence": ("nn.LSTM(8, 8)(x.half())[0]", "does not match weight dtype"),
}


@pytest.mark.parametrize("forward, message", MIXED.values(), ids=MIXED)
def test_dtypes_that_eager_pytorch_refuses_are_refused_in_its_words(refused, forward, message):
    error = refused(f"return {forward}", "import torch.nn.functional as F\n")
    assert error.code == "trace.forward_failed" and re.search(message, error.message) and error.line == 7
    assert "shapes and dtypes" in error.hint


@pytest.mark.parametrize(
    "forward",
    [
        "x + x.half()",
        "F.layer_norm(x.half(), (8,), torch.ones(8), torch.ones(8))",
        "F.embedding(x.long(), torch.ones(3, 8))",
        "torch.cat([x, x.double()])",
        "x.gather(1, x.long())",
        "F.cross_entropy(x, x[:, 0].long())",
        "torch.where(x > 0, x, x.half())",
    ],
)
def test_dtypes_that_eager_pytorch_mixes_are_traced(write_model, forward):
    body = f"class Model(nn.Module):\n    def forward(self, x):\n        return {forward}\n"
    inputs = "def get_inputs(): return [torch.rand(4, 8)]\n"
    assert trace(load_file(write_model(f"{HEAD}import torch.nn.functional as F\n{body}{inputs}")))["nodes"]


def test_a_shape_that_depends_on_values_is_no_matter_of_dtypes(write_model):
    body = "i, j = torch.where(x > 0.5)\n        return torch.zeros_like(x).index_add_(0, i, x[i] * x[i, j, None])"
    text = f"{HEAD}class Model(nn.Module):\n    def forward(self, x):\n        {body}\n"
    nodes = trace(load_file(write_model(f"{text}def get_inputs(): return [torch.rand(4, 8)]\n")))["nodes"]
    assert any(out.get("varies") for node in nodes for out in node["outs"])


def test_autocast_makes_dtypes_alike(write_model):
    body = "with torch.autocast('cpu', dtype=torch.bfloat16):\n            return x.bfloat16() @ x.T"
    text = f"{HEAD}class Model(nn.Module):\n    def forward(self, x):\n        {body}\n"
    assert trace(load_file(write_model(f"{text}def get_inputs(): return [torch.rand(4, 8)]\n")))["nodes"]
