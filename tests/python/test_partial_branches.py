"""Modules that branch on values: they are cut with the branches of their example inputs, which every call checks before
it has effects; where it goes another way the original runs."""

import warnings

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

from partial_site import attached, made_parts, session_of, write_dropin  # noqa: E402
from test_partial_counts import EXPERTS, WIDTH, Net, data  # noqa: E402

from solstice.errors import OracleError  # noqa: E402
from solstice.partial import parts as cutting  # noqa: E402
from solstice.tracing import trace  # noqa: E402
from solstice.tracing.causes import BRANCHES  # noqa: E402


def block(m, x):
    return m.down(F.gelu(m.up(x)))


def skips_idle_experts(m, x):
    weight, chosen = m.gate(x).softmax(-1).topk(2, -1)
    out = torch.zeros_like(x)
    for e, expert in enumerate(m.experts):
        rows, place = torch.where(chosen == e)
        if rows.numel() == 0:
            continue
        out.index_add_(0, rows, expert(x[rows]) * weight[rows, place, None])
    return x + block(m, out)


def asks_for_length(m, x):
    chosen, out = m.gate(x).argmax(-1), torch.zeros_like(x)
    for e, expert in enumerate(m.experts):
        mask = chosen == e
        rows = x[mask]
        if len(rows) > 0:
            out[mask] = expert(rows)
    return x + block(m, out)


def asks_for_shape(m, x):
    chosen, out = m.gate(x).argmax(-1), torch.zeros_like(x)
    for e, expert in enumerate(m.experts):
        rows = (chosen == e).nonzero().squeeze(1)
        if rows.shape[0] != 0:
            out.index_copy_(0, rows, expert(x[rows]))
    return x + block(m, out)


def asks_for_any(m, x):
    chosen, out = m.gate(x).argmax(-1), torch.zeros_like(x)
    for e, expert in enumerate(m.experts):
        mask = chosen == e
        if mask.any():
            out[mask] = expert(x[mask])
    return x + block(m, out)


def sliced_by_counts(m, x):
    chosen = m.gate(x).argmax(-1)
    order = chosen.argsort(stable=True)
    parts, begin = [], 0
    for expert, rows in zip(m.experts, torch.bincount(chosen, minlength=EXPERTS).tolist()):
        if rows == 0:
            continue
        parts.append(expert(x[order][begin : begin + rows]))
        begin += rows
    out = torch.empty_like(x)
    out[order] = torch.cat(parts)
    return x + block(m, out)


def split_by_counts(m, x):
    """Without a branch: it holds for all inputs."""
    chosen = m.gate(x).argmax(-1)
    order = chosen.argsort(stable=True)
    parts = x[order].split(torch.bincount(chosen, minlength=EXPERTS).tolist())
    out = torch.empty_like(x)
    out[order] = torch.cat([expert(rows) for expert, rows in zip(m.experts, parts)])
    return x + block(m, out)


def asks_for_a_sum(m, x):
    h = block(m, x)
    return block(m, h * 2 if x.sum() > 0 else h)


def asks_is_true(m, x):
    h = block(m, x)
    return block(m, h * 2) if (x.sum() > 0).item() is True else h


def asks_is_not_true(m, x):
    h = block(m, x)
    return block(m, h * 2) if (x.sum() < 0).item() is not True else h


def asks_for_truths(m, x):
    h = block(m, x)
    return block(m, h * 2) if [True, True] == (x[:, :2].sum(0) > 0).tolist() else h


def asks_for_a_number(m, x):
    h = block(m, x)
    return block(m, h.clamp(-1, 1) if x.abs().max().item() > 3.0 else h)


def asks_for_a_range(m, x):
    h = block(m, x)
    return block(m, h if 0.5 <= x.max().item() <= 3.0 else -h)


def asks_for_a_count(m, x):
    positive = (x > 0).sum().item()
    h = block(m, x)
    return block(m, h if positive <= 50 else h * 2 if positive != 96 else -h)


def loops(m, x):
    h = block(m, x)
    while h.abs().max() > 0.2:
        h = h / 2
    return block(m, h)


def asserts(m, x):
    assert not torch.isnan(x).any(), "not a number"
    return block(m, x)


def asks_for_equal(m, x):
    h = block(m, x)
    return block(m, h) if torch.equal(x, x.abs()) or x.equal(h[:4]) else h


def converges(m, x):
    h = block(m, x)
    for _ in range(20):
        before, h = h, h * 0.3
        if torch.allclose(h, before, atol=1e-3):
            break
    return block(m, h)


def several_rows(m, x):
    rows = x[x[:, 0] > 0]
    h = block(m, x)
    return h * 2 if rows.shape[0] > 3 else h - 1


NOT_SO = "numbers that are read from tensors are not as in the trace"
FORWARDS = (
    *(skips_idle_experts, asks_for_length, asks_for_shape, asks_for_any, sliced_by_counts, split_by_counts),
    *(asks_for_a_sum, asks_for_a_number, asks_for_a_range, asks_for_a_count, loops, asserts, several_rows),
    *(asks_is_true, asks_is_not_true, asks_for_truths, asks_for_equal, converges),
)


def dropin_of(tmp_path, module, *args):
    session = session_of(module, *args)
    parts = cutting.make_parts(session, {node.name: "no kernels" for node in cutting.calls_of(session).calls()}, {})
    return attached(write_dropin(tmp_path, "", session, parts), module)


@pytest.mark.parametrize("forward", FORWARDS, ids=lambda f: f.__name__)
def test_a_whole_trace_refuses_a_branch(forward):
    with pytest.raises(OracleError) as refused:
        trace(session_of(Net(forward), data()[0]).subject)
    assert refused.value.code == BRANCHES and refused.value.line


@pytest.mark.parametrize("forward", FORWARDS, ids=lambda f: f.__name__)
def test_a_module_that_branches_is_cut(forward):
    parts = made_parts(session_of(Net(forward), data()[0]))
    assert parts.own.takes_branches and parts.stages
    assert any("gelu" in stage.title() for stage in parts.stages)


def said_of(folder, module, inputs, **options):
    """What a drop-in that gives the same results warns of, without the place. It is made for the first of data()."""
    first = data()[0]
    new = dropin_of(folder, module, first)
    with warnings.catch_warnings(record=True) as said, torch.no_grad():
        warnings.simplefilter("always")
        torch.testing.assert_close(new(first), module(first), rtol=0, atol=0)
        assert not said  # it holds for the example inputs
        for x in inputs:
            for _ in range(2):  # slowly, then as the fast function
                torch.testing.assert_close(new(x), module(x), rtol=0, atol=0, **options)
    return {str(w.message).rpartition(":")[0] for w in said}


@pytest.mark.parametrize("forward", FORWARDS, ids=lambda f: f.__name__)
def test_a_call_that_goes_another_way_is_the_originals(forward, tmp_path):
    goes_another_way = said_of(tmp_path, Net(forward), data())
    assert goes_another_way <= {f"ModelNew uses its original forward: {NOT_SO}"}
    assert bool(goes_another_way) == (forward not in (split_by_counts, asserts))


@pytest.mark.parametrize("example", [2, 3, 4])
@pytest.mark.parametrize("forward", FORWARDS, ids=lambda f: f.__name__)
def test_the_example_inputs_may_have_experts_without_rows(forward, example, tmp_path):
    module = Net(forward)
    new = dropin_of(tmp_path, module, data()[example])
    with warnings.catch_warnings(record=True) as said, torch.no_grad():
        warnings.simplefilter("always")
        torch.testing.assert_close(new(data()[example]), module(data()[example]), rtol=0, atol=0)
        assert not said
        for x in data():
            torch.testing.assert_close(new(x), module(x), rtol=0, atol=0)


@pytest.mark.filterwarnings("ignore:ModelNew uses its original forward")
def test_all_rows_of_one_expert(tmp_path):
    module, first = Net(skips_idle_experts), data()[0]
    new = dropin_of(tmp_path, module, first)
    with torch.no_grad():
        module.gate.weight.zero_()
        module.gate.bias.copy_(torch.tensor([2.0, 1.0, 0.0]))  # no row for the last
        torch.testing.assert_close(new(first), module(first), rtol=0, atol=0)
        module.gate.bias.copy_(torch.tensor([0.0, 1.0, 2.0]))
        torch.testing.assert_close(new(first), module(first), rtol=0, atol=0)


@pytest.mark.filterwarnings("ignore:ModelNew uses its original forward")
def test_the_originals_error(tmp_path):
    module, first = Net(asserts), data()[0]
    new = dropin_of(tmp_path, module, first)
    with pytest.raises(AssertionError, match="not a number"):
        new(first * float("nan"))


@pytest.mark.filterwarnings("ignore:ModelNew uses its original forward")
def test_no_rows_at_all(tmp_path):
    module, first = Net(skips_idle_experts), data()[0]
    new = dropin_of(tmp_path, module, first)
    with torch.no_grad():
        torch.testing.assert_close(new(first[:0]), module(first[:0]))


class Counted(Net):
    """Counts its calls, before or after it branches on what it counts."""

    def __init__(self, reads_its_count):
        super().__init__(None)
        self.register_buffer("calls", torch.zeros(()))
        self.reads_its_count = reads_its_count

    def forward(self, x):
        self.calls.add_(1)
        asked = self.calls if self.reads_its_count else x.sum()
        return block(self, x * 2 if asked > 0.5 else x)


@pytest.mark.filterwarnings("ignore:ModelNew uses its original forward")
def test_a_branch_is_checked_before_effects(tmp_path):
    module, x = Counted(False), data()[2]
    new = dropin_of(tmp_path, module, x)
    with torch.no_grad():
        for given in (x, -x, x, -x):
            before = module.calls.clone()
            got = new(given)
            assert module.calls == before + 1
            torch.testing.assert_close(got, module(given), rtol=0, atol=0)


def test_a_branch_on_what_was_written_is_refused():
    with pytest.raises(OracleError) as refused:
        made_parts(session_of(Counted(True), data()[2]))
    assert "only after `aten.add_.Tensor`" in refused.value.message


def test_a_module_that_cannot_run_is_refused():
    class Large(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up = torch.nn.Linear(8192, 4096)

        def forward(self, x):
            return self.up(x * 2 if x.sum() > 0 else x)

    with pytest.raises(OracleError) as refused:
        made_parts(session_of(Large(), torch.randn(4, 8192)))
    assert refused.value.code == BRANCHES and "too large to be run on a CPU" in refused.value.message
