"""How the oracle times, with the GPU replaced: what is undone when a call fails, and what is sent."""

import contextlib

import pytest
import torch

from solstice.errors import OracleError
from solstice.loading import Subject
from solstice.oracle import requests, rivals, timing
from solstice.oracle.session import InputSet, Session


class Fails(torch.nn.Module):
    """Out of memory at its `at`-th call."""

    def __init__(self, at):
        super().__init__()
        self.at, self.calls = at, 0

    def forward(self, x):
        self.calls += 1
        if self.calls == self.at:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return x


class HostSession:
    device = torch.device("cpu")

    def __init__(self, module):
        self._module, self.emptied, self.news = module, 0, []

    def module(self, variant="built"):
        return self._module

    def empty_cache(self):
        self.emptied += 1

    def progress(self, stage, message=""):
        self.news.append((stage, message))


@pytest.fixture
def host(monkeypatch):
    """Timing on the host: no events, flushes of a few bytes."""
    properties = type("Properties", (), {"L2_cache_size": 512})
    event = type("Event", (), {"record": lambda self: None, "elapsed_time": lambda self, end: 1.0})
    monkeypatch.setattr(timing, "need_gpu", lambda session: None)
    monkeypatch.setattr(timing, "KERNELBENCH_FLUSH_BYTES", 1024)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device=None: (1 << 40, 1 << 40))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=None: None)
    monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing=False: event())


@pytest.mark.parametrize("at", [1, 3, 5, None])
def test_a_block_leaves_its_inputs_as_they_were(host, at):
    x = torch.arange(4.0).reshape(4, 1)
    session = HostSession(Fails(at))
    inputs = InputSet(1, "default", "built", (x,), {})
    with pytest.raises(torch.OutOfMemoryError) if at else contextlib.nullcontext():
        timing.time_block(session, inputs, session.module(), reps=3, warmups=3)
    assert x.flatten().tolist() == [0, 1, 2, 3]
    assert session.emptied == 1


def test_integers_that_ascend_stay_where_they_are(host):
    """Offsets of groups are valid in this order alone; indices are valid in any."""
    ends, indices, x = torch.tensor([3, 3, 8]), torch.tensor([2, 0, 1]), torch.arange(3.0)
    with timing.FreshContent(
        HostSession(Fails(None)), InputSet(1, "default", "built", (ends, indices, x), {})
    ) as fresh:
        fresh()
        assert [t.tolist() for t in (ends, indices, x)] == [[3, 3, 8], [0, 1, 2], [1, 2, 0]]


def test_a_failing_block_keeps_no_memory(host, monkeypatch):
    """The error's traceback keeps the frames, and what they name, alive."""
    made = []
    for name in ("L2Flush", "FreshContent"):
        kind = getattr(timing, name)
        monkeypatch.setattr(
            timing,
            name,
            type(name, (kind,), {"__init__": lambda self, *a, k=kind: (made.append(self), k.__init__(self, *a))[0]}),
        )
    session = HostSession(Fails(1))
    inputs = InputSet(1, "default", "built", (torch.arange(4.0).reshape(4, 1),), {})
    with pytest.raises(torch.OutOfMemoryError):
        timing.time_block(session, inputs, session.module(), reps=3, warmups=3)
    flush, fresh = made
    assert flush._buffer is None and fresh._pairs == []


def inputs_of(*tensors):
    return InputSet(1, "default", "built", tensors, {})


def test_inputs_of_one_row_move_along_another_dimension(host):
    x = torch.arange(3.0).reshape(1, 3, 1)
    with timing.FreshContent(HostSession(Fails(None)), inputs_of(x)) as fresh:
        fresh()
        assert x.flatten().tolist() == [1, 2, 0]
    assert x.flatten().tolist() == [0, 1, 2]


def test_a_failing_comparison_gives_its_memory_back(host):
    session = HostSession(Fails(3))
    call = lambda: session.module()(torch.zeros(1))
    with pytest.raises(torch.OutOfMemoryError):
        timing.compare(session, inputs_of(), call, call, reps=2, warmups=1, rounds=2)
    assert session.emptied == 1


def test_a_comparison_is_sent_block_by_block_in_abba_order(host):
    session = HostSession(Fails(None))
    called = []
    calls = [lambda: called.append("a"), lambda: called.append("b")]
    blocks, results = timing.compare(session, inputs_of(), *calls, reps=3, warmups=1, rounds=2)
    assert [block["side"] for block in blocks] == ["original", "drop-in", "drop-in", "original"] * 2
    assert all(block["seconds"] == [1e-3] * 3 for block in blocks)
    assert "".join(called) == "ab" + "aaabbbbbbaaa" * 2
    assert results is None  # there is no content to tell them apart by
    assert session.news == [("timed", block["side"]) for block in blocks]  # the client reads the clocks at each


def test_compared_calls_see_other_content_each_time_and_the_same_at_the_end(host):
    x = torch.arange(100.0)
    seen = []

    def call():
        seen.append(x[0].item())
        return x.clone()

    _, ((expected,), (produced,)) = timing.compare(
        HostSession(Fails(None)), inputs_of(x), call, call, reps=2, warmups=1, rounds=1
    )
    assert seen == [*map(float, range(1, 12)), 11.0]
    assert torch.equal(expected, produced)
    assert x[0] == 0


def test_a_result_that_is_a_view_of_an_input_is_kept(host):
    x = torch.arange(8.0)
    call = lambda: x.view(2, 4)
    _, ((expected,), (produced,)) = timing.compare(
        HostSession(Fails(None)), inputs_of(x), call, call, reps=1, warmups=1, rounds=1
    )
    assert torch.equal(expected, produced) and expected[0, 0] == 7 and x[0] == 0


def test_a_call_finds_nothing_that_the_last_one_left(host):
    """Neither in its workspaces nor in the memory that its results take."""
    x, workspace, found = torch.arange(8.0), torch.zeros(4), []

    def new():
        found.append(workspace.isnan().all().item())
        workspace.fill_(7)
        return x + 1

    timing.compare(HostSession(Fails(None)), inputs_of(x), lambda: x + 1, new, 2, 1, 1, workspaces=lambda: [workspace])
    assert found == [True] * 6

    poison = timing.Poison(torch.device("cpu"), list)
    both = x + 1
    poison.expect([both, both[2:], x[1:]], {x.untyped_storage()._cdata})
    assert poison._sizes == [32]


def test_both_are_in_one_state_when_they_are_compared(host):
    x, states, said = torch.arange(8.0), {"a": 0, "b": 5}, []

    def call(name):
        states[name] += 1
        return x + states[name]

    @contextlib.contextmanager
    def alike():
        states["b"] = states["a"]
        said.append(dict(states))
        yield

    calls = [lambda: call("a"), lambda: call("b")]
    _, (expected, produced) = timing.compare(HostSession(Fails(None)), inputs_of(x), *calls, 1, 1, 1, alike)
    assert len(said) == 1 and torch.equal(expected[0], produced[0])


def test_ascending_rows_of_one_stay_too(host):
    ends = torch.tensor([[1, 3, 8]])
    with timing.FreshContent(HostSession(Fails(None)), inputs_of(ends)) as fresh:
        fresh()
        assert ends.tolist() == [[1, 3, 8]]


def test_a_comparison_needs_rounds(host):
    with pytest.raises(OracleError, match="rounds"):
        timing.compare(HostSession(Fails(None)), inputs_of(), lambda: None, lambda: None, reps=3, warmups=0, rounds=0)


class Positions(torch.nn.Module):
    """A cache with room for two rows, and what counts them: a third call in a row finds none."""

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(2, 3), persistent=False)
        self.register_buffer("at", torch.zeros((), dtype=torch.int64))

    def forward(self, x, calls):
        self.rows[self.at] = x[0]
        self.at += 1
        calls += 1
        if calls > 2:
            raise IndexError("too many calls")
        return torch.nn.functional.dropout(x, 0.5, True) + self.rows.sum()


def positions_session():
    make = lambda: ((torch.arange(6.0).view(2, 3), torch.zeros((), dtype=torch.int64)), {})
    return Session(torch.device("cpu"), Subject(Positions(), make, None, None, "Positions", None, weights="real"))


def test_opponents_that_write_in_place_are_timed_as_if_each_call_were_the_first(host, monkeypatch):
    """Of a module that draws nothing is known of errors: its draws are others in float64."""
    monkeypatch.setattr(rivals, "import_compiler", lambda: None)
    monkeypatch.setattr(torch, "compile", lambda module: module)
    session = positions_session()
    made = requests.time_rivals(session, reps=4, warmups=2, blocks=2)["rivals"]
    assert [(len(r["seconds"]), r["error"]) for r in made] == [(8, None)] * 3
    assert [r["note"] for r in made] == ["no errors are known: its draws are others in float64", "", "default mode"]
    assert session.module().at == 0 and not session.module().rows.any()


def test_a_module_without_a_float64_result_has_opponents_all_the_same(host, monkeypatch):
    monkeypatch.setattr(rivals, "import_compiler", lambda: None)
    monkeypatch.setattr(torch, "compile", lambda module: module)

    class Narrow(torch.nn.Module):
        def forward(self, x):
            if x.dtype is torch.float64:
                raise TypeError("an operator of float32 alone")
            return x + 1

    subject = Subject(Narrow(), lambda: ((torch.ones(2, 3),), {}), None, None, "Narrow", None, weights="real")
    made = requests.time_rivals(Session(torch.device("cpu"), subject), reps=1, warmups=1)["rivals"]
    assert [len(r["seconds"]) for r in made] == [4] * 3
    assert made[0]["note"].startswith("no errors are known: ") and "float32 alone" in made[0]["note"]


def test_a_drop_in_that_writes_in_place_is_timed_as_if_each_call_were_the_first(host, monkeypatch):
    session, new = positions_session(), Positions()
    monkeypatch.setattr(requests.kernelbench, "load_dropin", lambda session, path: new)
    requests.prepare_inputs(session, set="trial", seed=1, family="default", weights="built")
    found = requests.time_dropin(session, path="model_new.py", set="trial", reps=4, warmups=2, rounds=2)
    assert len(found["blocks"]) == 8 and found["excess"] <= 1
    assert session.module().at == 0
