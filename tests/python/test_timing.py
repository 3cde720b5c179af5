"""How the oracle times, with the GPU replaced: what is undone when a call fails, and what is sent."""

import contextlib

import pytest
import torch
from host_timing import Fails, HostSession, host, inputs_of  # noqa: F401

from solstice.loading import Subject
from solstice.oracle import requests, rivals, timing
from solstice.oracle.session import InputSet, Session


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


def test_inputs_of_one_row_move_along_another_dimension(host):
    x = torch.arange(3.0).reshape(1, 3, 1)
    with timing.FreshContent(HostSession(Fails(None)), inputs_of(x)) as fresh:
        fresh()
        assert x.flatten().tolist() == [1, 2, 0]
    assert x.flatten().tolist() == [0, 1, 2]


def test_ascending_rows_of_one_stay_too(host):
    ends = torch.tensor([[1, 3, 8]])
    with timing.FreshContent(HostSession(Fails(None)), inputs_of(ends)) as fresh:
        fresh()
        assert ends.tolist() == [[1, 3, 8]]


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


def test_what_a_call_writes_of_inputs_that_stay_is_undone(host):
    ends, transposed, x = torch.tensor([3, 8]), torch.arange(6.0).view(2, 3).t(), torch.arange(3.0)
    with timing.FreshContent(HostSession(Fails(None)), inputs_of(ends, transposed, x)) as fresh:
        fresh()
        ends.add_(1), transposed.zero_()
        fresh()
        assert ends.tolist() == [3, 8] and transposed[2, 1] == 5 and x.tolist() == [2, 0, 1]
        ends.zero_()
    assert ends.tolist() == [3, 8] and x.tolist() == [0, 1, 2]


def test_a_call_can_have_the_content_of_an_earlier_one(host):
    x = torch.arange(3.0)
    with timing.FreshContent(HostSession(Fails(None)), inputs_of(x)) as fresh:
        fresh(), fresh()
        fresh.place(1)
        assert x.tolist() == [1, 2, 0]
