"""How the oracle times, with the GPU replaced: what is undone when a call fails, and what is sent."""

import contextlib

import pytest
import torch
from host_timing import Fails, HostSession, host, inputs_of  # noqa: F401

from solstice.oracle import timing
from solstice.oracle.session import InputSet


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
