"""Float buffers in the perturbed module."""

import pytest
import torch

from solstice.handler import collect_requests
from solstice.loading import load_file
from solstice.oracle import perturbing
from solstice.oracle.session import Session

MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(6))
        self.register_buffer("gain", torch.ones(6))
        self.register_buffer("zero", torch.zeros(6))
        self.register_buffer("rows", torch.tensor([1.0, 3.0, 0.0, 2.0]))
        self.register_buffer("order", torch.arange(4.0))
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("index", torch.arange(4))
        self.norm = torch.nn.BatchNorm1d(6)
        FURTHER
    def forward(self, x):
        RAISE
        self.count.add_(1)
        return self.norm(x[self.rows.long()][self.order.long()] * self.gain + self.zero) * self.w
def get_inputs(): return [torch.rand(4, 6)]
def get_init_inputs(): return []
"""


@pytest.fixture
def perturb(write_model):
    """The session, and the reply to `expected` for the perturbed module."""

    def make(further="pass", check="pass", weights="perturbed"):
        text = MODEL.replace("FURTHER", further).replace("RAISE", check)
        session = Session(torch.device("cpu"), load_file(write_model(text)))
        ask = collect_requests(session)
        ask["prepare_inputs"](set="a", seed=3, weights=weights)
        return session, ask["expected"](set="a")

    return make


def test_buffers_that_forward_reads_are_moved(perturb):
    session, reply = perturb()
    module, built = session.module("perturbed"), session.module()
    assert reply["notes"] == []
    assert (module.gain != 1).all() and (module.gain > 0).all()
    assert (module.zero != 0).all() and (module.zero > 0).all()
    assert module.rows.sort().values.tolist() == [0, 1, 2, 3] and module.rows.tolist() != [1, 3, 0, 2]
    assert module.order.tolist() == [0, 1, 2, 3]  # a program may assume it
    assert torch.equal(module.index, built.index) and module.count == 0
    assert (built.gain == 1).all() and (built.zero == 0).all() and built.count == 0
    names = {value["name"] for value in reply["values"]}
    assert {"buffer.count", "buffer.norm.running_mean"} <= names and "buffer.gain" not in names


def test_they_are_moved_once(perturb):
    session, _ = perturb()
    gain = session.module("perturbed").gain.clone()
    ask = collect_requests(session)
    ask["prepare_inputs"](set="b", seed=4, weights="perturbed")
    ask["expected"](set="b")
    assert torch.equal(session.module("perturbed").gain, gain)


def test_the_built_module_keeps_its_own(perturb):
    session, reply = perturb(weights="built")
    assert reply["notes"] == [] and (session.module().gain == 1).all()


@pytest.mark.parametrize(
    "check",
    [
        "if (self.odd != 1).any(): raise ValueError('ones only')",
        "x = x + torch.where(self.odd == 1, 0.0, float('nan'))",
    ],
    ids=["raises", "nowhere finite"],
)
def test_a_buffer_that_forward_takes_no_other_values_of(perturb, check):
    session, reply = perturb("self.register_buffer('odd', torch.ones(1))", check)
    module = session.module("perturbed")
    assert (module.odd == 1).all() and (module.gain != 1).all() and (module.w != 1).all()
    assert reply["notes"] == ["`forward` takes no other values in `odd`: not perturbed"]


def test_what_the_values_keep():
    mask = torch.full((8, 8), float("-inf")).triu(1)
    moved = perturbing.perturbed(mask, 1)
    assert torch.equal(moved.isinf(), mask.isinf()) and (moved[~moved.isinf()] != 0).all()
    least = torch.full((8, 8), torch.finfo(torch.float16).min, dtype=torch.float16).triu(1)
    assert perturbing.perturbed(least, 1).isfinite().all()
    assert not torch.equal(perturbing.perturbed(least, 1), least)
    tril = torch.tril(torch.ones(8, 8))
    assert (perturbing.perturbed(tril, 1) >= 0).all() and not torch.equal(perturbing.perturbed(tril, 1), tril)
    signed = torch.linspace(-1, 1, 50)
    assert (perturbing.perturbed(signed, 1) != signed).all()
    assert perturbing.perturbed(torch.empty(0), 1).numel() == 0
