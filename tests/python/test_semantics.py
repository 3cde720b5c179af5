"""The table of semantic traps (semantic_rows.py): traced, imported, interpreted in float64 in both forms, and compared
with eager PyTorch, NaNs and infinities included."""

import pytest
import torch
from conftest import ROOT

from solstice.errors import OracleError
from solstice.loading import load_file
from solstice.tracing import trace

CHECKER = ROOT / "build" / "tests" / "import_check"


@pytest.fixture(scope="module")
def rows():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    from semantic_rows import ROWS

    yield ROWS
    torch.set_default_dtype(before)


NAMES = [
    *("avg_pool", "adaptive_avg_pool", "max_pool", "arg_reductions", "batch_norm", "other_norms", "activations"),
    *("closed_intervals", "nan_propagates", "rows_with_infinities", "attention", "cross_entropy", "losses", "margins"),
    *("spreads", "dtypes", "scalars", "powers", "division", "whole_division", "real_division", "paddings", "recurrent"),
    *("transposed_convolutions", "grouped_attention"),
    *("dropout_switched_off", "scans", "masked_nans"),
]


def test_every_row_is_run(rows):
    assert sorted(NAMES) == sorted(rows)


@pytest.mark.parametrize("name", NAMES)
def test_means_what_pytorch_means(name, rows):
    from check_import import check

    if not CHECKER.exists():
        pytest.skip(f"{CHECKER} is not built: `./x build`")
    assert check(str(CHECKER), [rows[name]]) == ""


@pytest.mark.parametrize(
    "forward, message",
    [
        ("self.b(x[:1, :, :1])", "Expected more than 1 value per channel"),
        ("x.long().mean()", "floating point or complex"),
    ],
)
def test_what_pytorch_refuses_is_an_error_with_its_line(write_model, forward, message):
    path = write_model(f"""
        import torch
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.b = torch.nn.BatchNorm1d(3)
            def forward(self, x):
                return {forward}
        def get_inputs(): return [torch.rand(4, 3, 2)]
        def get_init_inputs(): return []
    """)
    with pytest.raises(OracleError) as caught:
        trace(load_file(path))
    assert (caught.value.code, caught.value.line) == ("trace.forward_failed", 8)
    assert message in caught.value.message
