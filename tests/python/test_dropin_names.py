"""Which parameters, buffers, attributes and modules there are: kernels were made for these, and for no more."""

import collections

import pytest
import torch
from host_dropin import refused
from torch import nn

from solstice.dropin import structure, watching


@pytest.mark.parametrize(
    "was, now",
    [
        (nn.Linear(4, 4, bias=False), nn.Linear(4, 4)),
        (nn.Linear(4, 4), nn.Linear(4, 4, bias=False)),
        (nn.Conv2d(3, 3, 1, bias=False), nn.Conv2d(3, 3, 1)),
        (nn.LayerNorm(4, bias=False), nn.LayerNorm(4)),
        (nn.MultiheadAttention(8, 2, bias=False), nn.MultiheadAttention(8, 2)),
        (nn.BatchNorm1d(4, track_running_stats=False), nn.BatchNorm1d(4)),
    ],
)
def test_a_constructor_argument_that_decides_which_tensors_there_are(was, now):
    recorded = structure.describe(nn.Sequential(was))
    assert structure.difference(nn.Sequential(was), recorded) is None
    assert structure.difference(nn.Sequential(now), recorded).startswith("`0.")


class Optional(nn.Module):
    def __init__(self, has):
        super().__init__()
        self.w = nn.Parameter(torch.ones(4)) if has else None


@pytest.mark.parametrize("was, now", [(True, False), (False, True)])
def test_a_parameter_that_is_no_parameter_elsewhere(was, now):
    assert "`w` is " in structure.difference(Optional(now), structure.describe(Optional(was)))


def test_the_order_of_a_sequence():
    layers = collections.OrderedDict(a=nn.ReLU(), b=nn.ReLU())
    recorded = structure.describe(nn.Sequential(layers))
    layers.move_to_end("a")
    assert "in the order ['b', 'a']" in structure.difference(nn.Sequential(layers), recorded)


def test_a_recording_of_an_older_version_is_refused(subject, record):
    older = {path: {k: v for k, v in entry.items() if k != "tensors"} for path, entry in record["structure"].items()}
    refused(subject, "recorded by an older version", module=subject.module({**record, "structure": older}))


@pytest.fixture(params=["versions of dicts", "entry by entry"])
def wide(subject, record, request, monkeypatch):
    """A drop-in whose original reads what may be absent."""
    if request.param == "entry by entry":  # as from Python 3.13 on
        monkeypatch.setattr(watching, "DICT_VERSION", None)

    class Original(type(subject.original)):
        def __init__(self, scale):
            super().__init__(scale)
            self.inner.register_parameter("bias", None)
            self.inner.register_buffer("shift", None)
            self.inner.register_parameter("unused", nn.Parameter(torch.ones(1)))
            self.inner.a, self.inner.b, self.inner.c = 1, 2, 3
            self.layers = nn.Sequential(nn.Identity(), nn.ReLU())

        def forward(self, x):
            x = torch.relu(x * self.inner.w)
            for name in ("bias", "shift", "extra", "late"):
                found = getattr(self.inner, name, None)
                x = x if found is None else x + found
            return x if getattr(self.inner, "unused", None) is not None else x + 1

    return subject.module({**record, "structure": structure.describe(Original(2.0))}, Original)


def add_bias(m):
    m.inner.bias = nn.Parameter(torch.ones(3))


def add_shift(m):
    m.inner.shift = torch.ones(3)


def add_parameter(m):
    m.inner.extra = nn.Parameter(torch.ones(3))


def add_buffer(m):
    m.inner.register_buffer("extra", torch.ones(3))


def add_attribute(m):
    m.inner.late = 3.0


def add_to_root(m):
    m.late = 3.0


def set_attribute(m):
    m.inner.b = 3


def set_attribute_often(m):
    for i in range(1000):  # Python has a faster way for such
        m.inner.b = i


def set_in_dict(m):
    vars(m.inner).update(b=3)


def exchange_attribute(m):
    m.inner.late = vars(m.inner).pop("c")


def exchange_table(m):
    m.inner._parameters = {**m.inner._parameters, "bias": nn.Parameter(torch.ones(3))}


def drop_unused(m):
    m.inner.unused = None


def delete_unused(m):
    del m.inner.unused


def reshape_unused(m):
    m.inner.unused = nn.Parameter(torch.ones(2))


def reorder(m):
    m.layers._modules["0"] = m.layers._modules.pop("0")


def add_leaf(m):
    m.drop.more = nn.ReLU()


def drop_module(m):
    m.layers[0] = None


@pytest.mark.parametrize(
    "change, reason",
    [
        (add_bias, "`inner.bias` is float32"),
        (add_shift, "`inner.shift` is float32"),
        (add_parameter, "`inner.extra` is float32.* the recorded module has none"),
        (add_buffer, "`inner.extra` is float32.* the recorded module has none"),
        (add_attribute, "`inner.late` is 3.0; the recorded module has none"),
        (add_to_root, "`late` is 3.0"),
        (set_attribute, "`inner.b` is 3; recorded was 2"),
        (set_attribute_often, "`inner.b` is 999"),
        (set_in_dict, "`inner.b` is 3"),
        (exchange_attribute, "`inner.c` is no attribute any more"),
        (exchange_table, "`inner.bias` is float32"),
        (drop_unused, "`inner.unused` is None; recorded was float32"),
        (delete_unused, "`inner.unused` is no parameter or buffer any more"),
        (reshape_unused, r"`inner.unused` is float32\[2\]"),
        (reorder, "in the order"),
        (add_leaf, "`drop.more` is new"),
        (drop_module, "`layers.0` is gone"),
    ],
)
def test_a_change_after_the_module_is_bound(subject, wide, change, reason):
    for _ in range(3):
        assert subject.call(module=wide)[1]
    change(wide)
    with pytest.warns(UserWarning, match=reason):
        result, fast = subject.call(module=wide)
    assert not fast
    torch.testing.assert_close(result, type(wide)._solstice_original.forward(wide, subject.x))


def test_hooks_of_the_module_itself_are_no_new_attributes(subject, wide):
    assert subject.call(module=wide)[1]
    wide.register_forward_hook(lambda module, args, out: out + 1)
    wide.register_state_dict_post_hook(lambda *_: None)
    assert subject.call(module=wide)[1]


def test_what_is_written_again_as_it_was(subject, wide):
    """Another version of a dict is no reason yet."""
    assert subject.call(module=wide)[1]
    fast = wide.__dict__["_solstice_runtime"].fast
    wide.inner.b, wide.inner.c = 2, 3
    before = subject.launches()
    fast(wide, (subject.x,), {})
    assert subject.launches() == before + 1
