"""Branches on numbers that are no integers, which may be infinite or none; and calls that a branch keeps from failing,
which the drop-in makes before it knows of the branch."""

import warnings

import pytest

torch = pytest.importorskip("torch")

from partial_site import session_of  # noqa: E402
from test_partial_branches import NOT_SO, block, dropin_of, said_of  # noqa: E402
from test_partial_counts import Net, data  # noqa: E402
from test_partial_position import assert_same, outcome  # noqa: E402

from solstice.errors import OracleError  # noqa: E402
from solstice.partial import parts as cutting  # noqa: E402


def is_itself(m, x):
    total, h = x.sum().item(), block(m, x)
    return block(m, h) if total == total else torch.zeros_like(h)


def is_finite(m, x):
    total, h = x.sum().item(), block(m, x)
    return block(m, h) if total - total == 0 else torch.zeros_like(h)


def is_finite_by_product(m, x):
    most, h = x.max().item(), block(m, x)
    return block(m, h) if 0 * most == 0 else torch.zeros_like(h)


def is_not_negative(m, x):
    total, h = x.sum().item(), block(m, x)
    return block(m, h) if abs(total) >= 0 else torch.zeros_like(h)


def is_below_infinity(m, x):
    most, h = x.max().item(), block(m, x)
    return block(m, h) if most < float("inf") else torch.zeros_like(h)


def is_as_large(m, x):
    most, first, h = x.max().item(), x[0, 0].item(), block(m, x)
    return block(m, h) if most - first >= 0 else torch.zeros_like(h)


def is_in_both(m, x):
    total, most, h = x.sum().item(), x.max().item(), block(m, x)
    return block(m, h) if (total >= -1) & (most <= 4) else h


def the_best_expert(m, x):
    best, h = -float("inf"), block(m, x)
    for expert in m.experts:
        score = expert(h).sum().item()
        if score > best:
            best, chosen = score, expert
    return chosen(h) if best > -float("inf") else h


FLOATS = (
    is_itself,
    is_finite,
    is_finite_by_product,
    is_not_negative,
    is_below_infinity,
    is_as_large,
    is_in_both,
    the_best_expert,
)


def special():
    """Some elements are no number, or infinite."""
    x = data()[0]
    for first in (float("nan"), float("inf"), float("-inf")):
        y = x.clone()
        y[0, 0] = first
        yield y


@pytest.mark.parametrize("forward", FLOATS, ids=lambda f: f.__name__)
def test_infinite_numbers_and_none(forward, tmp_path):
    said = said_of(tmp_path, Net(forward), (*data(), *special()), equal_nan=True)
    assert said == {f"ModelNew uses its original forward: {NOT_SO}"}


def truths_differ(m, x):
    left, right, h = (x[:, 0] > 0).any().item(), (x[:, 1] > 1).any().item(), block(m, x)
    return block(m, h) if left != right else h


def is_true(m, x):
    left, h = (x[:, 0] > 0).any().item(), block(m, x)
    return block(m, h) if left == True else h  # noqa: E712


def is_floored(m, x):
    h = block(m, x)
    return block(m, h) if x.sum().item() // 3 - 1 > 1 else h


def is_rounded(m, x):
    h = block(m, x)
    return block(m, h) if round(x.mean().item()) > 0 else h


@pytest.mark.filterwarnings("ignore:ModelNew uses its original forward")
@pytest.mark.parametrize("forward", [truths_differ, is_true, is_floored, is_rounded], ids=lambda f: f.__name__)
def test_what_pytorch_cannot_state_by_itself(forward, tmp_path):
    module, first = Net(forward), data()[0]
    new = dropin_of(tmp_path, module, first)
    for x in (*data(), *special()):
        assert_same(outcome(new, x), outcome(module, x))


def test_a_compared_remainder_is_refused():
    """PyTorch takes it for an integer, so that this were always false."""

    def remainder(m, x):
        h = block(m, x)
        return block(m, h) if x.sum().item() % 2 > 1 else h

    with pytest.raises(OracleError) as refused:
        cutting.calls_of(session_of(Net(remainder), data()[3]))
    assert "remainder" in refused.value.message


def a_quotient(m, x):
    left, right, h = (x[:, 0] > 0).sum().item(), (x[:, 1] > 0).sum().item(), block(m, x)
    return block(m, h) if right > 0 and left / right > 0.5 else h


def the_largest_of_some(m, x):
    h = block(m, x)
    return block(m, h) + x[x[:, 0] > 0].amax(0) if 0 * h.max() + x[0, 0] > 0 else h


def a_row_by_its_number(m, x):
    rows, h = (x[:, 0] > 0).sum().item(), block(m, x)
    return block(m, h) + x[rows - 1] / rows if rows > 0 else h


@pytest.mark.filterwarnings("ignore:ModelNew uses its original forward")
@pytest.mark.parametrize("forward", [a_quotient, the_largest_of_some, a_row_by_its_number], ids=lambda f: f.__name__)
def test_calls_that_a_branch_keeps_from_failing(forward, tmp_path):
    module, first = Net(forward), data()[2]
    new = dropin_of(tmp_path, module, first)
    with torch.no_grad():
        for x in data():
            for _ in range(2):
                torch.testing.assert_close(new(x), module(x), rtol=0, atol=0)


class Failing(Net):
    """Counts a call, then fails on some inputs, then branches."""

    def __init__(self):
        super().__init__(None)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        first = x[x[:, 0] > 0].max()
        return block(self, x * 2 if first > 0 else x)


@pytest.mark.filterwarnings("ignore:ModelNew uses its original forward")
def test_a_call_that_fails_has_the_originals_effects(tmp_path):
    original, module = Failing(), Failing()
    new = dropin_of(tmp_path, module, data()[0])
    for x in (*data(), *data()):
        assert_same(outcome(new, x), outcome(original, x))


class Reassigned(Net):
    """A buffer that `forward` replaces, or adds to, before it branches."""

    def __init__(self, forward):
        super().__init__(forward)
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))


def replaces(m, x):
    m.calls = m.calls + 1
    return block(m, x * 2 if m.calls.item() > 3 else x)


def adds_and_cannot_be_traced(m, x):
    m.calls += 1
    return block(m, x * 2 if torch.equal(x, x.abs()) else x)


@pytest.mark.parametrize("forward", [replaces, adds_and_cannot_be_traced], ids=lambda f: f.__name__)
def test_the_module_is_left_as_it_was(forward):
    module = Reassigned(forward)
    calls = module.calls
    try:
        cutting.calls_of(session_of(module, data()[0]))
    except OracleError:
        assert forward is adds_and_cannot_be_traced
    assert module.calls is calls and calls == 0
