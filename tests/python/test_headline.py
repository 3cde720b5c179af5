"""The headline, with the GPU replaced: the order of its calls, what they find, and that every result is compared."""

import math

import pytest
import torch
from host_timing import Fails, HostSession, host, inputs_of  # noqa: F401

from solstice.errors import OracleError
from solstice.oracle import headline, kernelbench, rivals


class Calls(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def compare(inputs, original, new, reps=3, warmups=1, rounds=2, session=None):
    modules = (m if isinstance(m, torch.nn.Module) else Calls(m) for m in (original, new))
    return headline.compare(session or HostSession(Fails(None)), inputs, *modules, reps, warmups, rounds)


def test_a_failing_comparison_gives_its_memory_back(host):
    session, x = HostSession(Fails(3)), torch.arange(4.0)
    with pytest.raises(torch.OutOfMemoryError):
        compare(inputs_of(x), session.module(), session.module(), session=session)
    assert session.emptied == 1 and x.tolist() == [0, 1, 2, 3]


def test_a_comparison_is_sent_block_by_block_in_abba_order(host):
    session, called = HostSession(Fails(None)), []
    calls = [lambda x: called.append("a"), lambda x: called.append("b")]
    blocks = compare(inputs_of(torch.zeros(1)), *calls, session=session)["blocks"]
    assert [block["side"] for block in blocks] == ["original", "drop-in", "drop-in", "original"] * 2
    assert all(block["seconds"] == [1e-3] * 3 for block in blocks)
    # The original runs on the content of each call of the drop-in once its block is over.
    assert "".join(called) == "aba" + ("aaa" + "bbbaaa" * 2 + "aaa") * 2
    assert session.news == [("timed", block["side"]) for block in blocks]  # the client reads the clocks at each


def test_a_comparison_needs_rounds(host):
    with pytest.raises(OracleError, match="rounds"):
        compare(inputs_of(), lambda: None, lambda: None, rounds=0)


def test_calls_see_other_content_each_time_and_every_result_is_compared(host):
    x, seen = torch.arange(100.0), {"a": [], "b": []}

    def call(name):
        return lambda x: (seen[name].append(x[0].item()), x * 2)[1]

    found = compare(inputs_of(x), call("a"), call("b"), reps=2, warmups=1, rounds=1)
    assert seen["b"] == [2.0, 5.0, 6.0, 7.0, 8.0]
    assert seen["a"] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
    assert found["fresh_content"] and found["compared"] == 4 and found["excess"] == 0
    assert x[0] == 0


# Number of a call of the drop-in, and what it does in place of 2 * x; 1 is the warm-up.
WRONG = {
    "stale": lambda x, calls, kept: kept[0] * 2,
    "wrong_shape": lambda x, calls, kept: x[:1] * 2,
    "wrong_dtype": lambda x, calls, kept: (x * 2).double(),
    "one_more": lambda x, calls, kept: (x * 2, x),
    "not_finite": lambda x, calls, kept: x * 2 + math.nan,
    "a_small_part_off": lambda x, calls, kept: x * 2 + 1e-3 * (x == 3) * (1 + x),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("at", [2, 8, 13])
def test_one_wrong_result_of_all_that_were_timed_is_seen(host, wrong, at):
    calls, kept = [], []

    def new(x):
        calls.append(len(calls) + 1)
        kept.append(x.clone())
        return WRONG[wrong](x, calls, kept) if calls[-1] == at else x * 2

    found = compare(inputs_of(torch.arange(100.0)), lambda x: x * 2, new)
    assert len(calls) == 13 and found["compared"] == 12
    assert found["excess"] is None or found["excess"] > 1


def test_a_wrong_warm_up_is_no_timed_result(host):
    calls = []
    new = lambda x: (calls.append(1), x * (2 if len(calls) > 1 else 3))[1]
    assert compare(inputs_of(torch.arange(8.0)), lambda x: x * 2, new)["excess"] == 0


def test_a_later_call_cannot_finish_the_work_of_an_earlier_one(host):
    """Whose time would not have it."""
    results, copies = [], []

    def new(x):
        copies.append(x.clone())
        results.append(torch.zeros_like(x))
        if len(results) % 3 == 1:  # the warm-up, and the last of a block
            for result, copy in zip(results, copies):
                result.copy_(copy * 2)
        return results[-1]

    assert compare(inputs_of(torch.arange(8.0)), lambda x: x * 2, new)["excess"] is None


def test_results_are_compared_one_by_one_where_memory_is_short(host, monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device=None: (1000, 1000))
    called = []
    calls = [lambda x: (called.append("a"), x.repeat(100))[1], lambda x: (called.append("b"), x.repeat(100))[1]]
    found = compare(inputs_of(torch.arange(8.0)), *calls, rounds=1)
    assert "".join(called) == "aba" + "aaa" + "bababa" * 2 + "aaa"
    assert found["fresh_content"] and found["compared"] == 6 and found["excess"] == 0


def test_without_other_content_results_are_compared_too(host, monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device=None: (8, 8))
    found = compare(inputs_of(torch.arange(8.0)), lambda x: x + 1, lambda x: x + 2)
    assert not found["fresh_content"] and found["compared"] == 12 and found["excess"] > 1


def test_a_result_that_is_a_view_of_an_input_is_kept(host):
    found = compare(inputs_of(torch.arange(8.0)), lambda x: x.view(2, 4), lambda x: x.view(2, 4).clone())
    assert found["excess"] == 0


def test_nan_of_both_agrees(host):
    x = torch.arange(-4.0, 4)
    assert compare(inputs_of(x), torch.sqrt, torch.sqrt)["excess"] == 0
    assert compare(inputs_of(x), torch.sqrt, lambda x: x.clamp(min=0).sqrt())["excess"] is None


def test_a_call_finds_nothing_that_the_last_one_left(host):
    """Neither in its workspaces nor in the memory that its results take."""
    x, workspace, found = torch.arange(8.0), torch.zeros(4), []

    def new(x):
        found.append(workspace.isnan().all().item())
        workspace.fill_(7)
        return x + 1

    module = Calls(new)
    module.solstice_workspaces = lambda: [workspace]
    compare(inputs_of(x), lambda x: x + 1, module, reps=2, rounds=1)
    assert found == [True] * 5

    poison = headline.Poison(torch.device("cpu"), list)
    both = x + 1
    poison.expect([both, both[2:], x[1:]], {x.untyped_storage()._cdata})
    assert poison._sizes == [32]


class Counting(torch.nn.Module):
    """Its result and its state depend on how often it was called."""

    def __init__(self, step=1):
        super().__init__()
        self.step = step
        self.register_buffer("total", torch.zeros(8))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += self.step
        self.total += x
        return self.total * self.calls


def test_timed_calls_start_from_one_state_and_leave_none(host):
    original, new = Counting(), Counting()
    assert compare(inputs_of(torch.arange(8.0)), original, new)["excess"] == 0
    assert all(not t.any() for module in (original, new) for t in module.buffers())
    assert compare(inputs_of(torch.arange(8.0)), original, original)["excess"] == 0  # attached: one state


def test_written_buffers_are_results(host):
    class Forgets(Counting):
        def forward(self, x):
            out = super().forward(x)
            self.total.zero_()
            return out

    assert compare(inputs_of(torch.arange(8.0)), Counting(), Forgets())["excess"] > 1


def test_written_inputs_are_results(host):
    def writes(value):
        return lambda cache, x: (cache[:1].copy_(x[:1] + value), cache + x)[1]

    make = lambda: inputs_of(torch.arange(8.0).view(2, 4).t(), torch.arange(4.0).view(4, 1))
    assert compare(make(), writes(0), writes(0))["excess"] == 0
    reads = lambda cache, x: torch.cat((x[:1].expand(1, 2), cache[1:])) + x
    assert compare(make(), writes(0), reads)["excess"] > 1


def test_written_inputs_without_room_for_copies_are_an_error(host, monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device=None: (8, 8))
    with pytest.raises(OracleError, match="writes its inputs") as caught:
        compare(inputs_of(torch.arange(8.0)), lambda x: x.add_(1) * 2, lambda x: x.add_(1) * 2)
    assert caught.value.code == "timing.out_of_memory"


def test_draws_are_the_same_on_both_sides_and_others_in_the_next_call(host):
    drawn = []
    draws = lambda x: (drawn.append(torch.rand(1).item()), x + torch.rand(8))[1]
    assert compare(inputs_of(torch.arange(8.0)), draws, draws, reps=1, warmups=1, rounds=1)["excess"] == 0
    assert len(set(drawn)) == 6 and len(drawn) == 9  # 6 calls, 3 of them once more by the original


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool, torch.int8, torch.int64, torch.complex64])
def test_a_checksum_sees_every_byte(dtype):
    values = torch.arange(13).to(dtype)
    for made in (values, values[1:], values[::2], values[:0], values[3]):
        assert headline.checksum(made) == headline.checksum(made.clone())
    for i in range(13):
        other = values.clone()
        other[i] = 0 if values[i] else 1
        assert headline.checksum(other) != headline.checksum(values)


def test_an_excess_is_infinite_for_other_forms():
    x = torch.zeros(3)
    assert kernelbench.excess_alike([x], [x.clone()], "reference") == 0
    assert kernelbench.excess_alike([x], [x[:2]], "reference") == math.inf
    assert kernelbench.excess_alike([x], [x.double()], "reference") == math.inf


def test_every_call_of_a_contest_begins_with_the_same_statistics(host):
    """Batch normalisation writes them without moving their versions."""
    norm, seen = torch.nn.BatchNorm1d(4).train(), []

    def forward(x):
        seen.append((norm.running_mean.tolist(), int(norm.num_batches_tracked)))
        return norm(x)

    inputs = inputs_of(torch.randn(8, 4))
    made = rivals.Contest(inputs, [rivals.Rival("eager", forward), rivals.Rival("again", forward)])
    rivals.contest(HostSession(norm), made, reps=2, warmups=1, blocks=2)
    assert not any(rival.failed for rival in made.rivals)
    assert len(seen) == 10 and all(each == ([0.0] * 4, 0) for each in seen)
