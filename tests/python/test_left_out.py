"""What depends on no NaN of the inputs though PyTorch's result is NaN: what a mask multiplies by zero, nothing else."""

import pytest
import torch

from solstice.handler import collect_requests
from solstice.loading import load_file
from solstice.oracle.session import Session

MODEL = """
import torch
import torch.nn.functional as F
class Model(torch.nn.Module):
    def forward(self, a, b): return {result}
def get_inputs(): return [torch.randn(24, 24), torch.randn(24, 24)]
def get_init_inputs(): return []
"""


@pytest.fixture
def found(write_model):
    """NaN at row `row`, column 3 of `b`; infinity one column on. The result, and its values for finite inputs."""

    def find(result, row=12):
        session = Session(torch.device("cpu"), load_file(write_model(MODEL.format(result=result), "model.py")))
        ask = collect_requests(session)
        ask["prepare_inputs"](set="a", seed=3, family="normal")
        b = session.sets["a"].args[1]
        b[row, 3], b[row, 4] = torch.nan, torch.inf
        ask["expected"](set="a")
        count = ask["find_left_out"](set="a", into="b")["elements"]
        value = session.sets["b"].expected.get("output.0")
        assert count == (0 if value is None else int(value.isfinite().sum()))
        return session.sets["a"], value

    return find


def test_rows_of_a_triangle_above_the_nan_are_left_out(found):
    inputs, value = found("torch.tril(a) @ b")
    exact = torch.tril(inputs.args[0].double()) @ inputs.args[1].double().nan_to_num(0, 0, 0)
    assert inputs.expected["output.0"][:, 3:5].isnan().sum() > 24, "PyTorch multiplies the zeros"
    assert value[:12, 3:5].equal(exact[:12, 3:5])
    value[:12, 3:5] = torch.nan
    assert value.isnan().all(), "what the triangle holds depends on the NaN, and other columns are finite"


@pytest.mark.parametrize("result", ["torch.diag(a[0]) @ b", "F.one_hot(torch.arange(24)).to(a) @ b"])
def test_all_but_the_row_itself_is_left_out_by_a_diagonal(found, result):
    _, value = found(result)
    assert value[:, 3:5].isnan().nonzero()[:, 0].unique().tolist() == [12]


def test_keys_that_a_causal_attention_does_not_see_are_left_out(found):
    _, value = found("F.scaled_dot_product_attention(a, a, b, is_causal=True)")
    assert value[:12, 3:5].isfinite().all() and value[12:].isnan().all()


@pytest.mark.parametrize(
    "result",
    [
        "a @ b",
        "torch.relu(a) @ b + a @ b",
        "torch.maximum(a, b)",
        "b.amax(1) + a[0]",
        "b.clamp(-1, 1)",
        "torch.sign(b)",
        "torch.tanh(b) * a",
        "torch.softmax(b, 1)",
        "torch.exp(-b * b)",
        "b.cumsum(1)",
        "F.layer_norm(b, (24,))",
    ],
)
def test_nothing_else_is(found, result):
    inputs, value = found(result)
    assert not inputs.expected["output.0"].isfinite().all() or "sign" in result or "clamp" in result
    assert value is None


def test_finite_inputs_leave_nothing_out(found):
    _, value = found("torch.tril(a) @ torch.nan_to_num(b)")
    assert value is None
