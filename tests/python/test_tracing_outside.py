"""Addresses of tensors and text of their values: a trace has neither, and must not take what it has instead."""

import pytest

torch = pytest.importorskip("torch")

from solstice.errors import OracleError  # noqa: E402
from solstice.loading import load_file  # noqa: E402
from solstice.tracing import trace  # noqa: E402

LINE = 12
MODEL = """\
import ctypes, hashlib, pickle, torch
import numpy as np
from torch.utils.dlpack import to_dlpack

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.ones(3))

    def forward(self, x):
        y = x * 2
        return {value}

def get_inputs(): return [torch.rand(6, 8) - 0.3]
def get_init_inputs(): return []
"""


def traced(tmp_path, value):
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(value=value))
    return trace(load_file(str(path)))


@pytest.mark.parametrize(
    "value, what",
    [
        ("x + torch.from_dlpack(y)", "another library"),
        ("x + torch.from_dlpack(self.b).sum()", "another library"),
        ("x + torch.from_dlpack(to_dlpack(y))", "another library"),
        ("x + torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(y))", "another library"),
        ("(y.__dlpack__(), x)[1]", "another library"),
        ("x + torch.from_numpy(np.from_dlpack(y))", "another library"),
        ("x + y.data_ptr() % 7", "the address"),
        ("x + ctypes.c_float.from_address(x.data_ptr()).value", "the address"),
        ("x + hash(str(x.tolist())) % 7", "text of values"),
        ("x + hashlib.md5(str(x.tolist()).encode()).digest()[0]", "text of values"),
        ("x + len(str(y))", "text of values"),
        ("x + hash(repr(y)) % 5", "text of values"),
        ("x + len(f'{y}')", "text of values"),
        ("x + len(format(y[0, 0]))", "text of values"),
        ("x + float(f'{y[0, 0]:.2f}')", "text of values"),
        ("x + len(str(y[0, 0].item()))", "text of values"),
        ("x + len(str(y[y > 0].shape))", "text of values"),
        ("x + len(f'{y[y > 0].shape[0]}')", "text of values"),
        ("x + len(str(self.b))", "text of values"),
        ("x + len(str(self.state_dict()))", "text of values"),
    ],
)
def test_refused_with_the_line_and_a_way_out(tmp_path, value, what):
    with pytest.raises(OracleError) as caught:
        traced(tmp_path, value)
    error = caught.value
    assert (error.kind, error.code, error.line) == ("input", "trace.not_exportable", LINE)
    assert what in error.message and "stays in PyTorch" in error.hint


@pytest.mark.parametrize(
    "value",
    [
        "x + len(set(x.flatten().tolist()))",
        "x + y.numpy().tobytes()[0]",
        "x + len(pickle.dumps(y))",
        "x + {0: 5.0}.get(int(y.sum()), 1.0)",
        "x + hash(y[0, 0].item()) % 7",
        "x + float(torch.equal(y, y.flip(0)))",
        "x + 1 if bool((y > 0).any()) else x",
        "x + 1 if y.sum().is_nonzero() else x",
        "x + (2 if isinstance(y.sum().item(), float) else 3)",
    ],
)
def test_values_that_python_takes_are_refused(tmp_path, value):
    with pytest.raises(OracleError) as caught:
        traced(tmp_path, value)
    assert caught.value.kind == "input" and caught.value.line


@pytest.mark.parametrize(
    "value", ["x + float(y.sum())", "x + int(y.sum())", "x + sum(y[0].tolist())", "x * bool(y.any())"]
)
def test_numbers_are_read_anew(tmp_path, value):
    (add,) = traced(tmp_path, value)["nodes"][-1:]
    assert add["args"]["other"].keys() & {"t", "n"}


def test_a_print_is_for_people_and_data_is_the_tensor(tmp_path, capsys):
    graph = traced(tmp_path, "(print(y, y[y > 0].shape), y.data + 1)[1]")
    assert [n["op"] for n in graph["nodes"]][-2:] == ["aten.detach.default", "aten.add.Tensor"]
    assert "size=(6, 8)" in capsys.readouterr().out
