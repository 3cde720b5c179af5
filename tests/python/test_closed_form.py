"""Closed forms of buffers: where they are found, and what a drop-in does once they are gone."""

import json

import pytest
import torch
from host_dropin import refused

from solstice.dropin import closed_form, structure
from solstice.tracing.closed_forms import closed_forms

INF = float("inf")


def triangle(diagonal, value, otherwise, axes=(0, 1)):
    return {"kind": "triangle", "axes": list(axes), "diagonal": diagonal, "value": value, "otherwise": otherwise}


@pytest.mark.parametrize(
    "tensor, form",
    [
        (torch.tril(torch.ones(5, 5)), triangle(0, 1, 0)),
        (torch.tril(torch.ones(5, 5)).view(1, 1, 5, 5), triangle(0, 1, 0, (2, 3))),
        (torch.tril(torch.ones(4, 7), -2), triangle(-2, 1, 0)),
        (torch.tril(torch.ones(4, 7, dtype=torch.bool), 2), triangle(2, 1, 0)),
        (torch.triu(torch.ones(6, 6, dtype=torch.int64), 1), triangle(0, 0, 1)),
        (torch.triu(torch.full((3, 3), -INF), 1), triangle(0, 0, {"float": "-inf"})),
        (torch.ones(3, 3).tril().expand(2, 3, 3), triangle(0, 1, 0, (1, 2))),
        (torch.eye(4), {"kind": "diagonal", "axes": [0, 1], "diagonal": 0, "value": 1, "otherwise": 0}),
        (
            torch.diag(torch.full((3,), 2.5), 2),
            {"kind": "diagonal", "axes": [0, 1], "diagonal": 2, "value": 2.5, "otherwise": 0},
        ),
        (torch.eye(5)[:, :3], {"kind": "diagonal", "axes": [0, 1], "diagonal": 0, "value": 1, "otherwise": 0}),
        (torch.arange(9), {"kind": "arange", "axes": [0], "value": 0, "step": 1}),
        (torch.arange(12.0, 0, -3)[None], {"kind": "arange", "axes": [1], "value": 12, "step": -3}),
        (torch.arange(4)[:, None].expand(4, 3), {"kind": "arange", "axes": [0], "value": 0, "step": 1}),
    ],
)
def test_found(tensor, form):
    assert closed_form.find(tensor) == form
    assert closed_form.holds(tensor, json.loads(json.dumps(form)))
    other = tensor.clone()
    other.view(-1)[other.numel() // 2] = 7 if other.dtype is not torch.bool else ~other.view(-1)[other.numel() // 2]
    assert not closed_form.holds(other, form)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.ones(4, 4),
        torch.tensor(1.0),
        torch.tensor([2, 5]),
        torch.tensor([0.5, 1.5, 2.5]),
        torch.tensor([0, 1, 2, 4]),
        torch.arange(300).to(torch.uint8),
        torch.arange(4096).to(torch.float16),
        torch.tensor([[1.0, float("nan")], [1.0, 1.0]]),
        torch.eye(4).flip(0),
        torch.tril(torch.ones(4, 4)) + torch.eye(4),
        torch.tril(torch.ones(3, 4, 4)) * torch.arange(1.0, 4)[:, None, None],
        torch.tensor([[1, 1, 0], [1, 0, 0], [0, 0, 0]]),
        torch.empty(0, 3),
        torch.tril(torch.ones(3, 3, dtype=torch.complex64)),
    ],
)
def test_not_found(tensor):
    assert closed_form.find(tensor) is None


def test_of_a_module():
    class Child(torch.nn.Module):
        def __init__(self, mask):
            super().__init__()
            self.register_buffer("mask", mask)
            self.register_buffer("rows", torch.arange(4), persistent=False)

    module = torch.nn.Module()
    shared = torch.tril(torch.ones(4, 4))
    module.a, module.b = Child(shared), Child(shared)
    module.norm = torch.nn.BatchNorm1d(4)
    module.norm.running_mean.copy_(torch.arange(4.0))
    module.weight = torch.nn.Parameter(torch.eye(3))
    table = torch.arange(8.0)
    module.register_buffer("low", table[:4])
    module.register_buffer("high", table[4:])
    assert set(closed_forms(module)) == {"a.mask", "b.mask", "a.rows", "b.rows"}
    assert set(closed_forms(module, written=["b.mask"])) == {"a.rows", "b.rows"}
    module.a.mask.requires_grad_()
    assert set(closed_forms(module)) == {"a.rows", "b.rows"}


class Masked(torch.nn.Module):
    """As the module of host_dropin.py, with a buffer that its kernels do not read."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.inner = torch.nn.Module()
        self.inner.w = torch.nn.Parameter(torch.tensor([scale]))
        self.inner.register_buffer("mask", torch.tril(torch.ones(2, 2)))
        self.drop = torch.nn.Dropout(0.0)

    def forward(self, x):
        return self.inner.mask @ torch.relu(x * self.inner.w)


@pytest.fixture
def masked(subject, record):
    form = {"path": "inner.mask", "dtype": "f32", "shape": [2, 2], "form": triangle(0, 1, 0)}
    subject.original = Masked(2.0)
    described = structure.describe(subject.original)
    subject.new = subject.module({**record, "assumed": [form], "structure": described}, Masked)
    return subject


def test_a_drop_in_runs_while_the_buffer_holds_it(masked):
    assert masked.call()[1]
    masked.new.load_state_dict(masked.new.state_dict())  # the same contents again
    assert masked.call()[1]
    masked.new.inner.mask = torch.tril(torch.ones(2, 2))
    assert masked.call()[1]


@pytest.mark.parametrize("how", ["load", "write", "replace", "transpose"])
def test_a_changed_mask_falls_back(masked, how):
    assert masked.call()[1]
    full = torch.ones(2, 2)
    if how == "load":
        masked.new.load_state_dict({**masked.new.state_dict(), "inner.mask": full})
    elif how == "write":
        masked.new.inner.mask.fill_(1)
    elif how == "replace":
        masked.new.inner.mask = full
    else:
        masked.new.inner.mask.t_()
    masked.original.inner.mask = masked.new.inner.mask.clone()
    refused(masked, "`inner.mask` no longer holds a triangle of 1 and 0, which the kernels were made for")
    masked.new.load_state_dict({**masked.new.state_dict(), "inner.mask": torch.ones(2, 2).tril()})
    assert masked.call()[1]


def test_a_mask_that_is_another_from_the_start(masked):
    masked.new.inner.mask.fill_(1)
    masked.original.inner.mask.fill_(1)
    refused(masked, "no longer holds")


class MaskedTwice(Masked):
    """The same mask in two modules, and one of these at two paths."""

    def __init__(self, scale):
        super().__init__(scale)
        self.other = torch.nn.Module()
        self.other.register_buffer("mask", self.inner.mask)
        self.again = self.inner

    def forward(self, x):
        return self.other.mask @ torch.relu(x * self.inner.w)


@pytest.fixture
def masked_twice(subject, record):
    form = {"path": "inner.mask", "dtype": "f32", "shape": [2, 2], "form": triangle(0, 1, 0)}
    subject.original = MaskedTwice(2.0)
    tied = {"inner.mask": ["other.mask", "again.mask"]}
    more = {"assumed": [form], "tied": tied, "structure": structure.describe(subject.original)}
    subject.new = subject.module({**record, **more}, MaskedTwice)
    return subject


@pytest.mark.parametrize("name", ["inner", "other", "again"])
def test_a_mask_of_two_names_is_compared_under_each(masked_twice, name):
    assert masked_twice.call()[1]
    setattr(getattr(masked_twice.new, name), "mask", torch.tril(torch.ones(2, 2)))
    assert masked_twice.call()[1]  # the same contents in two tensors
    setattr(getattr(masked_twice.new, name), "mask", torch.ones(2, 2))
    setattr(getattr(masked_twice.original, name), "mask", torch.ones(2, 2))
    refused(masked_twice, f"`{'other' if name == 'other' else 'inner'}.mask` no longer holds a triangle of 1 and 0")
    getattr(masked_twice.new, name).mask.tril_()
    assert masked_twice.call()[1]


def test_other_shapes_and_a_mask_that_is_gone(masked):
    masked.new.inner.mask = torch.tril(torch.ones(2, 2)).double()
    with pytest.warns(UserWarning, match="`inner.mask`.*float64.*recorded was"), pytest.raises(RuntimeError):
        masked.call()
    del masked.new.inner.mask
    with pytest.warns(UserWarning, match="`inner.mask`"), pytest.raises(AttributeError):
        masked.call()


def test_an_unread_mask_that_requires_a_gradient(masked):
    assert masked.call()[1]
    masked.new.inner.mask.requires_grad_()
    assert masked.call()[1]  # under no_grad
    with torch.enable_grad():
        masked.new.inner.w.requires_grad_(False)
        with pytest.warns(UserWarning, match="gradients are required"):
            assert masked.call()[0].requires_grad


def test_not_read_while_a_graph_is_captured(masked):
    from host_dropin import HostDevice

    assert masked.call()[1]
    masked.new.inner.mask.mul_(1)
    HostDevice.capturing_into = 1
    try:
        with pytest.warns(UserWarning, match="cannot be read while a graph is captured"):
            assert not masked.call()[1]
    finally:
        HostDevice.capturing_into = None
    assert masked.call()[1]


MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(3, 3)))
        self.register_buffer("counts", torch.arange(3.0))
        self.register_buffer("unread", torch.eye(3))
        self.table = torch.eye(40)
    def forward(self, x):
        self.counts.add_(1)
        return self.mask @ x + self.counts[:, None] + self.table[:3, :4]
def get_inputs(): return [torch.rand(3, 4)]
def get_init_inputs(): return []
"""


def test_a_graph_tells_the_forms_of_what_forward_reads_alone(write_model):
    from solstice.loading import load_file
    from solstice.tracing import trace

    graph = trace(load_file(write_model(MODEL)))
    assert {i["id"]: i["closed_form"] for i in graph["inputs"] if "closed_form" in i} == {"b_mask": triangle(0, 1, 0)}


def test_other_contents_are_another_trace(write_model):
    from solstice.loading import load_file
    from solstice.tracing import cache

    subject = load_file(write_model(MODEL))
    before = cache.key_of(subject, [], torch.device("cpu"))
    subject.module.mask.fill_(1)
    assert before is not None and cache.key_of(subject, [], torch.device("cpu")) != before
