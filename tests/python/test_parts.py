"""The float64 oracle in parts, and modules that have none."""

import pytest
import torch

from solstice.errors import OracleError
from solstice.handler import collect_requests
from solstice.loading import load_file
from solstice.oracle import parts, reference
from solstice.oracle.double import run_double
from solstice.oracle.session import Session

MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(64, 8)
        self.narrow = torch.nn.Linear(64, 8).bfloat16()
        self.rows = torch.nn.Parameter(torch.rand(18, 1))
    def forward(self, x):
        return RESULT
def get_inputs(): return [torch.rand(18, 64)]
def get_init_inputs(): return []
"""


@pytest.fixture
def expected(write_model, monkeypatch):
    """The reply to `expected` and its values, with memory for the float64 results of so many rows."""

    def ask(result, rows=5):
        def small_memory(module, args, kwargs, seed):
            if args[0].shape[0] > rows:
                raise torch.OutOfMemoryError("too many rows")
            return run_double(module, args, kwargs, seed)

        monkeypatch.setattr(reference, "run_double", small_memory)
        monkeypatch.setattr(parts, "run_double", small_memory)
        session = Session(torch.device("cpu"), load_file(write_model(MODEL.replace("RESULT", result))))
        requests = collect_requests(session)
        requests["prepare_inputs"](set="a")
        reply = requests["expected"](set="a")
        return reply, session.sets["a"].expected["output.0"]

    return ask


@pytest.mark.parametrize("rows", [2, 3, 5, 8, 9, 17])
@pytest.mark.parametrize(
    "result",
    ["torch.relu(self.l(x))", "self.narrow(x.bfloat16())", "self.l(x).softmax(-1)", "x.argmax(-1)", "x.sum(-1) * 3e38"],
)
def test_a_module_without_mixing(expected, result, rows):
    reply, values = expected(result, rows)
    assert reply["parts"] == next(n for n in (2, 4, 8, 16) if -(-18 // n) <= rows)
    torch.testing.assert_close(values, expected(result, 18)[1], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("rows", [2, 3, 5, 8, 9, 17])
@pytest.mark.parametrize(
    "result",
    [
        "x - x.mean(0)",
        "x - 1e-6 * x.mean(0)",
        "x + 1e-8 * x.roll(1, 0)",
        "x + 1e-7 * x.flip(0)",
        "x + 1e-7 * x[:1]",
        "x + 1e-7 * x.cumsum(0)",
        "x + 1e-8 * torch.arange(x.shape[0])[:, None]",
        "x * (1 + 1e-4 * (x.shape[0] > 17))",
        "self.narrow((x + 0.01 * x.mean(0)).bfloat16())",
    ],
)
def test_a_module_that_mixes(expected, result, rows):
    with pytest.raises(OracleError, match="mixes along the first axis") as caught:
        expected(result, rows)
    assert caught.value.code == "oracle.too_large"


def test_a_module_that_takes_no_parts(expected):
    with pytest.raises(OracleError, match="`forward` does not take a part of its inputs") as caught:
        expected("x * self.rows")
    assert caught.value.code == "oracle.too_large"


def test_rows_across_cuts():
    for extent in range(2, 40):
        for count in range(2, extent + 1):
            step = -(-extent // count)
            for rows in parts._across_cuts(extent, step):
                assert 0 <= rows.start < rows.stop <= extent and rows.stop - rows.start <= max(2, step)
                assert rows.start // step != (rows.stop - 1) // step
