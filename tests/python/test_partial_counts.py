"""Modules with values whose shape depends on data: these and what reads them stay PyTorch's, the rest is ours, and a
call with other data has other counts."""

import warnings

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

from partial_site import attached, parts_of, session_of, write_dropin  # noqa: E402

from solstice.partial import parts as cutting  # noqa: E402
from solstice.partial.cut import MOST_STAGES  # noqa: E402

WIDTH = 8
EXPERTS = 3


def mixture(m, x):
    """Top-2 of three experts, each on the tokens that chose it, beside a shared one."""
    h = F.layer_norm(x, (WIDTH,))
    weight, chosen = m.gate(h).softmax(-1).topk(2, -1)
    out = torch.zeros_like(h)
    for e, expert in enumerate(m.experts):
        token, place = torch.where(chosen == e)
        out.index_add_(0, token, expert(h[token]) * weight[token, place, None])
    return x + m.down(F.gelu(m.up(out + m.down(F.gelu(m.up(h))))))


def dropped_tokens(m, x):
    kept = (x.mean(-1) > 0).nonzero().squeeze(1)
    out = torch.zeros_like(x).index_copy(0, kept, m.down(F.gelu(m.up(x[kept]))))
    return m.down(F.gelu(m.up(x + out)))


def masked_mean(m, x):
    h = m.down(F.gelu(m.up(x)))
    return h - h[x[:, 0] > 0].mean(0).nan_to_num()


def ragged_rows(m, x):
    left, right = x[x[:, 0] > 0], x[x[:, 0] <= 0]
    packed = torch.cat([m.up(left), 2 * m.up(right)])
    return m.down(F.gelu(packed.cumsum(0))) + m.down(F.gelu(m.up(x)))


def distinct_rows(m, x):
    ids = (x[:, 0] * 3).round().long().clamp(-4, 4) + 4
    rows, back = torch.unique(ids, return_inverse=True)
    return m.down(F.gelu(m.up(m.table[rows])))[back] + m.down(F.gelu(m.up(x)))


def best_boxes(m, x):
    score = m.down(F.gelu(m.up(x))).sigmoid().amax(-1)
    order = score.argsort(descending=True)
    kept = order[score[order] > 0.62]
    return x[kept], score[kept]


def a_count(m, x):
    h = m.down(F.gelu(m.up(x)))
    return h / ((x > 0).nonzero().shape[0] + 1)


def scattered_back(m, x):
    mask = x > 0
    h = m.down(F.gelu(m.up(x)))
    return m.down(F.gelu(m.up(h.masked_scatter(mask, h.masked_select(mask) * 2))))


def assigned_rows(m, x):
    out = m.down(F.gelu(m.up(x)))
    mask = x[:, 0] > 0
    out[mask] = m.down(F.relu(m.up(x[mask])))
    return m.down(F.gelu(m.up(out)))


def counted_rows(m, x):
    """Sizes in the arguments of calls, and arithmetic on them."""
    rows = x[x[:, 0] > 0]
    pairs = rows.reshape(rows.shape[0] * 2, WIDTH // 2)
    return m.down(F.gelu(m.up(x))) + torch.full((rows.shape[0] + 1, 1), 2.0).sum() * pairs.sum()


FORWARDS = (
    *(mixture, dropped_tokens, masked_mean, ragged_rows, distinct_rows, best_boxes, a_count, scattered_back),
    *(assigned_rows, counted_rows),
)


class Net(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        torch.manual_seed(0)
        self.function = function
        self.up, self.down = torch.nn.Linear(WIDTH, 16), torch.nn.Linear(16, WIDTH)
        self.gate = torch.nn.Linear(WIDTH, EXPERTS)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH) for _ in range(EXPERTS))
        self.register_buffer("table", torch.randn(9, WIDTH))

    def forward(self, *args):
        return self.function(self, *args)


def data():
    """All, some and none of the rows pass the masks."""
    torch.manual_seed(1)
    x = torch.randn(12, WIDTH)
    return [x, torch.randn(12, WIDTH), x.abs(), -x.abs(), torch.zeros(12, WIDTH), 5 * x.abs(), torch.ones(12, WIDTH)]


def dropin_of(tmp_path, module, *args):
    """Of PyTorch's calls alone, in the steps that are written for them."""
    session = session_of(module, *args)
    parts = cutting.make_parts(session, {node.name: "no kernels" for node in cutting.calls_of(session).calls()}, {})
    assert not parts.stages
    return attached(write_dropin(tmp_path, "", session, parts), module)


@pytest.mark.parametrize("forward", FORWARDS, ids=lambda f: f.__name__)
def test_a_drop_in_counts_anew_in_each_call(forward, tmp_path):
    module, first = Net(forward), data()[0]
    new = dropin_of(tmp_path, module, first)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error")
        for x in data():
            for _ in range(2):  # slowly, then as the fast function
                torch.testing.assert_close(new(x), module(x), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("forward", FORWARDS, ids=lambda f: f.__name__)
def test_stages_have_static_shapes(forward):
    parts = parts_of(Net(forward), data()[0])
    assert parts.stages and len(parts.stages) <= MOST_STAGES
    for stage in parts.stages:
        values = [
            node.meta["val"] for node in (*stage.inputs, *stage.calls) if isinstance(node.meta["val"], torch.Tensor)
        ]
        assert all(isinstance(n, int) for value in values for n in value.shape)
    module = parts.original.module
    for x in data():
        values = parts.schedule().run([x], cutting.state_of(module).__getitem__)
        results = [values[r] for r in parts.own.results]
        expected = module(x)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for got, wanted in zip(results, expected, strict=True):
            torch.testing.assert_close(got, wanted, equal_nan=True)


ROWS = 12


class Counted(torch.nn.Module):
    """Rows of two masks, multiplied: as many of one as of the other, or one of either."""

    def __init__(self, counts_first):
        super().__init__()
        self.up, self.down = torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.register_buffer("calls", torch.zeros(()))
        self.counts_first = counts_first

    def forward(self, x, m, n):
        if self.counts_first:
            self.calls.add_(1)
        h = F.gelu(self.up(x))
        out = h[m] * F.gelu(self.down(h))[n]
        if not self.counts_first:
            self.calls.add_(1)
        return out


def masks(left, right):
    return torch.arange(ROWS) < left, torch.arange(ROWS) >= ROWS - right


@pytest.mark.filterwarnings("ignore:ModelNew uses its original forward")
@pytest.mark.parametrize("counts_first", [False, True])
def test_where_the_trace_does_not_hold_the_original_runs(counts_first, tmp_path):
    module, x = Counted(counts_first), torch.randn(ROWS, WIDTH)
    new = dropin_of(tmp_path, module, x, *masks(3, 3))
    with torch.no_grad():
        for counts in ((3, 3), (5, 1), (2, 2), (1, 4)):
            before = module.calls.clone()
            got = new(x, *masks(*counts))
            assert module.calls == before + 1
            torch.testing.assert_close(got, module(x, *masks(*counts)), rtol=0, atol=0)
