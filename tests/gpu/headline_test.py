"""The headline on a real GPU: every timed result is compared, and comparing leaves the timed calls alone."""

import statistics

import pytest

torch = pytest.importorskip("torch")

from solstice.oracle import headline  # noqa: E402
from solstice.oracle.session import InputSet, Session  # noqa: E402


class Calls(torch.nn.Module):
    """A function as a module, which notes how many segments the driver gave during each call."""

    def __init__(self, function):
        super().__init__()
        self.function, self.segments = function, []

    def forward(self, *args):
        before = torch.cuda.memory_stats()["segment.all.allocated"]
        out = self.function(*args)
        self.segments.append(torch.cuda.memory_stats()["segment.all.allocated"] - before)
        return out


def compare(original, new, *tensors, reps=3, warmups=3, rounds=2):
    session = Session(torch.device("cuda", 0))
    inputs = InputSet(1, "default", "built", tensors, {})
    return headline.compare(session, inputs, original, new, reps, warmups, rounds)


def medians(found):
    return [
        statistics.median(s for block in found["blocks"] if block["side"] == side for s in block["seconds"])
        for side in headline.SIDES
    ]


def through_a_product(x, w):
    return torch.nn.functional.gelu(x @ w) @ w.t()  # with intermediates of its own


@pytest.fixture
def tensors():
    torch.manual_seed(0)
    return torch.randn(2048, 1024, device="cuda"), torch.randn(1024, 4096, device="cuda")


def test_a_module_against_itself(tensors):
    """Equal results, equal times, and no memory of the driver's inside a timed call."""
    original, new = Calls(through_a_product), Calls(through_a_product)
    found = compare(original, new, *tensors, rounds=12)
    assert found["compared"] == 72 and found["excess"] == 0 and found["fresh_content"]
    first, second = medians(found)
    assert first / second == pytest.approx(1, abs=0.03)
    assert sum(original.segments[3:]) == 0 and sum(new.segments[3:]) == 0


@pytest.mark.parametrize("at", [4, 9, 15])
def test_one_stale_result_is_seen(tensors, at):
    calls, kept = [], []

    def new(x, w):
        calls.append(len(calls) + 1)
        out = kept[0] if calls[-1] == at else through_a_product(x, w)
        kept.append(out.clone())
        return out

    found = compare(Calls(through_a_product), Calls(new), *tensors)
    assert len(calls) == 15 and found["compared"] == 12
    assert found["excess"] is None or found["excess"] > 1


def test_inputs_are_as_they_were(tensors):
    before = [t.clone() for t in tensors]
    compare(Calls(through_a_product), Calls(through_a_product), *tensors)
    assert all(map(torch.equal, before, tensors))


def test_state_stays(tensors):
    original = torch.nn.BatchNorm1d(1024).cuda().train()
    new = torch.nn.BatchNorm1d(1024).cuda().train()
    assert compare(original, new, tensors[0])["excess"] <= 1
    assert not original.running_mean.any() and not new.running_mean.any() and new.num_batches_tracked == 0
    new.momentum = 0.5  # its result is the same, its state is not
    assert compare(original, new, tensors[0])["excess"] > 1


def test_draws_are_the_same(tensors):
    dropout = torch.nn.Dropout(0.5).train()
    assert compare(dropout, torch.nn.Dropout(0.5).train(), tensors[0])["excess"] == 0
