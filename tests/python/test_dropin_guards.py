"""What a drop-in has to notice about its module."""

import pytest
import torch
from host_dropin import refused

from solstice.dropin import structure
from solstice.dropin.fast import MISS


def test_other_constructor_arguments(subject):
    with pytest.warns(UserWarning, match="`scale` is 3.0; recorded was 2.0"):
        result, fast = subject.call(module=type(subject.new)(3.0))
    assert not fast
    torch.testing.assert_close(result, torch.relu(subject.x * 3))


def test_changed_attribute(subject):
    assert subject.call()[1]
    subject.new.drop.p = 0.5
    refused(subject, "`drop.p` is 0.5")
    subject.new.drop.p = 0.0
    assert subject.call()[1]
    subject.new.drop.p = 0.25
    with pytest.warns(UserWarning, match="`drop.p` is 0.25"):
        subject.call()
    subject.new.drop.p = 0.0
    assert subject.call()[1]


def test_training_mode_of_an_inner_module(subject):
    subject.new.drop.eval()
    refused(subject, "`drop.training` is False; recorded was True")


def test_replaced_module(subject):
    assert subject.call()[1]
    inner = torch.nn.Module()
    inner.w = torch.nn.Parameter(torch.tensor([6.0]))
    subject.new.inner = inner
    result, fast = subject.call()
    assert fast
    torch.testing.assert_close(result, torch.relu(subject.x * 6))
    subject.new.drop = torch.nn.ReLU()
    with pytest.warns(
        UserWarning,
        match="`drop` is a torch.nn.modules.activation.ReLU; recorded was a torch.nn.modules.dropout.Dropout",
    ):
        assert not subject.call()[1]


def test_added_module(subject):
    assert subject.call()[1]
    subject.new.more = torch.nn.ReLU()
    refused(subject, "`more` is new")


def test_replaced_forward_of_an_inner_module(subject):
    assert subject.call()[1]
    subject.new.drop.forward = lambda x: x
    with pytest.warns(UserWarning, match="another forward"):
        assert not subject.call()[1]
    del subject.new.drop.forward
    assert subject.call()[1]


def test_patched_forward_of_a_class(subject, record, monkeypatch):
    record = {**record, "structure": structure.describe(subject.original)}
    module = subject.module(record)
    assert subject.call(module=module)[1]
    monkeypatch.setattr(torch.nn.Dropout, "forward", lambda self, x: x + 1)
    with pytest.warns(UserWarning, match="class of the module `drop` has another forward"):
        assert not subject.call(module=module)[1]
    monkeypatch.undo()
    assert subject.call(module=module)[1]


def test_forward_patched_before_the_module_is_bound(subject, monkeypatch):
    class Block(torch.nn.Module):
        def forward(self, x):
            return x * 2

    module = torch.nn.Sequential(Block())
    recorded = structure.describe(module)
    assert structure.difference(module, recorded) is None
    name = Block.forward.__qualname__

    def forward(self, x):
        return x * 3

    forward.__qualname__ = name  # as functools.wraps leaves it
    monkeypatch.setattr(Block, "forward", forward)
    assert "another forward" in structure.difference(module, recorded)


def test_classes_of_one_name_in_two_modules(subject):
    class Linear(torch.nn.Linear):
        pass

    Linear.__qualname__ = "Linear"
    recorded = structure.describe(torch.nn.Sequential(torch.nn.Linear(2, 2)))
    assert "recorded was a torch.nn" in structure.difference(torch.nn.Sequential(Linear(2, 2)), recorded)


def test_description_and_difference():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.GELU())
    model.act, model.sizes = torch.relu, [1, (2.5, "a")]
    known = structure.describe(model)
    assert known["0"].pop("forward")["name"] == "torch.nn.modules.linear.Linear.forward"
    assert known["0"] == {
        "class": "torch.nn.modules.linear.Linear",
        "children": [],
        "tensors": {"weight": "float32[2, 2]", "bias": "float32[2]"},
        "attributes": {"in_features": "2", "out_features": "2"},
    }
    assert known[""]["attributes"]["sizes"] == "list(1, tuple(2.5, 'a'))"
    assert known[""]["children"] == ["0", "1"]
    assert structure.difference(model, known) is None
    model.sizes[1] = (2.5, "b")
    assert (
        structure.difference(model, known)
        == "`sizes` is list(1, tuple(2.5, 'b')); recorded was list(1, tuple(2.5, 'a'))"
    )
    del model.sizes
    assert "`sizes` is no attribute any more" in structure.difference(model, known)


def test_hook_on_an_inner_module(subject):
    assert subject.call()[1]
    handle = subject.new.drop.register_forward_hook(lambda module, args, out: None)
    refused(subject, "hooks")
    handle.remove()
    assert subject.call()[1]


def test_hook_on_a_module_that_an_attribute_holds(subject, record):
    class Original(type(subject.original)):
        def __init__(self, scale):
            super().__init__(scale)
            self.held = [torch.nn.Sequential(torch.nn.ReLU())]

    module = subject.module({**record, "structure": structure.describe(Original(2.0))}, Original)
    assert subject.call(module=module)[1]
    handle = module.held[0][0].register_forward_hook(lambda module, args, out: None)
    refused(subject, "hooks", module=module)
    handle.remove()
    assert subject.call(module=module)[1]


def test_hook_on_all_modules(subject):
    assert subject.call()[1]
    handle = torch.nn.modules.module.register_module_forward_hook(lambda module, args, out: None)
    with pytest.warns(UserWarning, match="hooks"):
        assert not subject.call()[1]
    handle.remove()
    assert subject.call()[1]


def test_hooks_elsewhere_do_not_matter(subject):
    assert subject.call()[1]
    torch.nn.ReLU().register_forward_hook(lambda module, args, out: None)
    runtime = subject.new.__dict__["_solstice_runtime"]
    for _ in range(2):
        assert subject.call()[1]
    before = subject.launches()
    runtime.fast(subject.new, (subject.x,), {})
    assert subject.launches() == before + 1


def test_parameter_of_another_dtype(subject):
    assert subject.call()[1]
    subject.new.double()
    with pytest.warns(UserWarning, match="`inner.w` is float64"):
        assert not subject.call()[1]


def test_same_address_other_view(subject):
    matrix = torch.nn.Parameter(torch.tensor([2.0, 5.0]))
    subject.new.inner.w = torch.nn.Parameter(matrix.data[:1])
    assert subject.call()[1]
    subject.new.inner.w.data = matrix.data
    with pytest.warns(UserWarning, match=r"`inner.w` is float32\[2\]"):
        with pytest.raises(RuntimeError):  # the original cannot multiply by it either
            subject.call()


def unlike(x):
    """Tensors that differ from `x`, [2, 3] of float32, in one thing each."""
    return {
        "extents": torch.rand(3, 2),
        "order": torch.rand(2, 6)[:, :3],
        "transposed": torch.rand(3, 2).t(),
        "rank": torch.rand(2, 3, 1),
        "dtype": x.int(),
        "layout": x.to_sparse(),
        "device": x.to("meta"),
        "without memory": torch._efficientzerotensor((2, 3)),
        "negated": torch._neg_view(x),
        "no tensor": 3.0,
    }


@pytest.mark.parametrize("guard", [True, False])
def test_tensors_are_compared_in_one_call_where_pytorch_offers_it(subject, monkeypatch, guard):
    if not guard:
        monkeypatch.delattr(torch._C._dynamo.guards, "TensorGuards")
    assert subject.call()[1]
    fast = subject.new.__dict__["_solstice_runtime"].fast
    alike, w = fast.__globals__["alike"], subject.new.inner.w
    assert alike(torch.rand(2, 3), w) is guard
    for how, x in unlike(subject.x).items():
        assert not alike(x, w), how
        if how != "negated":  # as a user's would be, which has another layout: fast.py, _argument()
            assert fast(subject.new, (x,), {}) is MISS, how


def test_what_pytorchs_guard_does_not_know_is_looked_at_again(subject):
    assert subject.call()[1]
    fast = subject.new.__dict__["_solstice_runtime"].fast
    x = torch.nn.Parameter(subject.x)
    assert not fast.__globals__["alike"](x, subject.new.inner.w)
    assert fast(subject.new, (x,), {}) is not MISS
    with torch.inference_mode():
        assert fast(subject.new, (subject.x,), {}) is not MISS


def test_an_argument_without_memory(subject):
    assert subject.call()[1]
    refused(subject, "argument 0 has no memory", torch._efficientzerotensor((2, 3)))


def test_untied_parameter(subject, record):
    class Tied(type(subject.original)):
        def __init__(self, scale):
            super().__init__(scale)
            self.drop.w = self.inner.w

    structure_of_it = structure.describe(Tied(2.0))
    module = subject.module({**record, "structure": structure_of_it, "tied": {"inner.w": ["drop.w"]}}, Tied)
    assert subject.call(module=module)[1]
    module.drop.w = torch.nn.Parameter(torch.tensor([9.0]))
    with pytest.warns(UserWarning, match="`drop.w` is no longer the same tensor as `inner.w`"):
        assert not subject.call(module=module)[1]


def test_a_storage_that_is_read_from_its_beginning_begins_with_the_tensor(subject, record):
    """`as_strided` counts from the storage's beginning, the kernels from the tensor's."""
    new = subject.module({**record, "by_place": True})
    part = torch.arange(128.0)[64:70].view(2, 3)
    for _ in range(2):
        assert subject.call(module=new)[1] and subject.call(part)[1]
    refused(subject, "argument 0 is a part of a storage, from whose beginning `forward` reads", x=part, module=new)
    weights = torch.tensor([1.0, 2.0])
    new.inner.w = torch.nn.Parameter(weights[1:])
    refused(subject, "`inner.w` is a part of a storage, from whose beginning `forward` reads", module=new)
