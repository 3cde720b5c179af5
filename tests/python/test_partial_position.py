"""A cache in buffers at a position that is read by `.item()`: what the trace takes for granted of the position is
checked before the cache is written."""

import warnings

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

from partial_site import made_parts, session_of  # noqa: E402
from test_partial_branches import dropin_of  # noqa: E402

from solstice.errors import OracleError  # noqa: E402
from solstice.partial.order import behind_effects  # noqa: E402

WIDTH, HEADS, LENGTH, BATCH = 16, 2, 6, 2


def by_slice(m, k, v):
    at = int(m.position.item())
    m.k_cache[:, :, at : at + 1] = k
    m.v_cache[:, :, at : at + 1] = v
    return m.k_cache[:, :, : at + 1], m.v_cache[:, :, : at + 1]


def by_number(m, k, v):
    at = m.position.item()
    m.k_cache[:, :, at] = k[:, :, 0]
    m.v_cache[:, :, at] = v[:, :, 0]
    return m.k_cache[:, :, : at + 1], m.v_cache[:, :, : at + 1]


def by_select(m, k, v):
    at = m.position.item()
    m.k_cache.select(2, at).copy_(k[:, :, 0])
    m.v_cache.select(2, at).copy_(v[:, :, 0])
    return m.k_cache[:, :, : at + 1], m.v_cache[:, :, : at + 1]


def by_narrow(m, k, v):
    at = m.position.item()
    m.k_cache.narrow(2, at, 1).copy_(k)
    m.v_cache.narrow(2, at, 1).copy_(v)
    return m.k_cache.narrow(2, 0, at + 1), m.v_cache.narrow(2, 0, at + 1)


class Block(torch.nn.Module):
    def __init__(self, cached):
        super().__init__()
        torch.manual_seed(0)
        self.cached = cached
        self.norm1, self.norm2 = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.out = (torch.nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)
        for name in ("k_cache", "v_cache"):
            self.register_buffer(name, torch.zeros(BATCH, HEADS, LENGTH, WIDTH // HEADS))
        self.register_buffer("position", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        h = self.norm1(x)
        q, k, v = (f(h).view(BATCH, 1, HEADS, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        keys, values = self.cached(self, k, v)
        self.position.add_(1)
        a = F.scaled_dot_product_attention(q, keys, values).transpose(1, 2).reshape(BATCH, 1, WIDTH)
        x = x + self.out(a)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Decoder(torch.nn.Module):
    """Two blocks, each with a cache and a position of its own."""

    def __init__(self, cached):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(cached) for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def tokens(number):
    torch.manual_seed(1)
    return [torch.randn(BATCH, 1, WIDTH) for _ in range(number)]


def outcome(module, x):
    """The result, or the error that it ends with; and the buffers afterwards."""
    with torch.no_grad():
        try:
            result = module(x)
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    return result, [buffer.clone() for buffer in module.buffers()]


def assert_same(got, wanted):
    if isinstance(wanted[0], str):  # `cache[at] = x` is a write to `cache.select(0, at)`, which has words of its own
        assert got[0].partition(":")[0] == wanted[0].partition(":")[0]
        got, wanted = got[1], wanted[1]
    torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)


CACHES = (by_slice, by_number, by_select, by_narrow)


@pytest.mark.parametrize("cached", CACHES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("made", [Block, Decoder])
def test_the_linear_parts_are_ours(made, cached):
    parts = made_parts(session_of(made(cached).eval(), tokens(1)[0]))
    titles = [stage.title() for stage in parts.stages]
    assert titles[0] == "layer_norm, linear, linear, linear"
    assert titles[-1].startswith("linear, add, layer_norm, linear")
    behind_effects(parts.own, parts.schedule().steps)


@pytest.mark.parametrize("cached", CACHES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("made", [Block, Decoder])
def test_each_step_is_pytorchs(made, cached, tmp_path):
    """Also behind the end of the cache, where slices are empty and others end with an error."""
    original, module = made(cached).eval(), made(cached).eval()
    new = dropin_of(tmp_path, module, tokens(1)[0])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for number, x in enumerate(tokens(LENGTH + 3)):
            wanted = outcome(original, x)
            assert_same(outcome(new, x), wanted)
            assert number >= LENGTH or not said, [str(w.message) for w in said]
    ends = cached is not by_slice
    assert isinstance(wanted[0], str) == ends


@pytest.mark.filterwarnings("ignore:ModelNew uses its original forward")
@pytest.mark.parametrize("cached", CACHES, ids=lambda f: f.__name__)
def test_a_position_before_the_beginning(cached, tmp_path):
    original, module = Block(cached).eval(), Block(cached).eval()
    new = dropin_of(tmp_path, module, tokens(1)[0])
    for start in (-1, -LENGTH - 1):
        for each in (original, module):
            each.position.fill_(start)
        for x in tokens(3):
            assert_same(outcome(new, x), outcome(original, x))


class Written(torch.nn.Module):
    """Reads a position after it has written it, by itself or by a view."""

    def __init__(self, by_view):
        super().__init__()
        self.up = torch.nn.Linear(WIDTH, WIDTH)
        self.register_buffer("position", torch.zeros(2, dtype=torch.long))
        self.register_buffer("rows", torch.zeros(LENGTH, WIDTH))
        self.by_view = by_view

    def forward(self, x):
        (self.position[:1] if self.by_view else self.position).add_(1)
        at = self.position.view(-1)[0].item()
        self.rows[at : at + 1] = self.up(F.gelu(self.up(x)))
        return self.up(F.gelu(self.up(x * 2 if at > 3 else x)))


@pytest.mark.parametrize("by_view", [False, True])
def test_a_check_stays_behind_what_writes_what_it_reads(by_view):
    with pytest.raises(OracleError) as refused:
        made_parts(session_of(Written(by_view), torch.randn(WIDTH)))
    assert "only after `aten.add_.Tensor`" in refused.value.message
