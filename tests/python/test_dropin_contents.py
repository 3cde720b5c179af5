"""Tensors and containers that attributes hold: kernels may have their values as literals."""

import pytest
import torch
from host_dropin import refused

from solstice.dropin import structure


@pytest.fixture
def holder(subject, record):
    """The drop-in of a module whose attributes hold tensors; the kernels know what they were."""

    class Holder(type(subject.original)):
        def __init__(self, scale, seed=1):
            super().__init__(scale)
            generator = torch.Generator().manual_seed(seed)
            self.s = torch.rand(1, generator=generator)
            self.many = torch.rand(1000, generator=generator)
            self.large = torch.rand(100000, generator=generator)
            self.lst = [torch.ones(2), 3, (4, [5])]
            self.table = {"k": 2.0, "t": torch.zeros(())}
            self.loose = [torch.nn.Linear(2, 2)]
            self.weights = [self.inner.w]
            self.me = [self]
            self.names, self.long = ["a", "b"], list(range(50))
            with torch.no_grad():
                self.loose[0].weight.fill_(1.0)
                self.loose[0].bias.fill_(0.5)

    def make(seed=1):
        module = subject.module({**record, "structure": structure.describe(Holder(2.0))}, Holder)
        return module if seed == 1 else type(module)(2.0, seed)

    return make


def runs(subject, module):
    """The usual call, by the fast function itself."""
    assert subject.call(module=module)[1]
    before = subject.launches()
    module.__dict__["_solstice_runtime"].fast(module, (subject.x,), {})
    assert subject.launches() == before + 1


def test_description(holder):
    found = structure.describe(holder())[""]["attributes"]
    assert found["s"].startswith("tensor(float32[1], [0.") and len(found["many"]) < 60
    assert found["large"] == "tensor(float32[100000])"
    assert found["lst"] == "list(tensor(float32[2], [1.0, 1.0]), 3, tuple(4, list(5)))"
    assert found["table"] == "dict('k': 2.0, 't': tensor(float32[], 0.0))"
    assert found["weights"] == "list(`inner.w`)" and found["me"] == "list(``)"
    assert "tensor(float32[2], [0.5, 0.5])" in found["loose"]


def test_same_contents_run_the_kernels(subject, holder):
    module = holder()
    runs(subject, module)
    module.s = module.s.clone()
    module.lst = [torch.ones(2), 3, (4, [5])]
    runs(subject, module)


def test_another_instance(subject, holder):
    holder()
    with pytest.warns(UserWarning, match=r"`s` is tensor\(float32\[1\], \[.*; recorded was tensor"):
        assert not subject.call(module=holder(seed=2))[1]


def replace(m):
    m.s = torch.tensor([100.0])


def multiply(m):
    m.many.mul_(2)


def other_data(m):
    m.s.data = torch.tensor([7.0])


def item(m):
    m.lst[0] = 7


def inner_item(m):
    m.lst[2][1].append(1)


def name(m):
    m.names[0] = "c"


def one_of_many(m):
    m.long[40] = 40.0


def entry(m):
    m.table["k"] = 3.0


def inner_tensor(m):
    m.table["t"].add_(1)


def loose_module(m):
    m.loose[0].bias = torch.nn.Parameter(torch.ones(2))


def other_weight(m):
    m.weights[0] = torch.ones(1)


@pytest.mark.parametrize(
    "change, name",
    [(replace, "s"), (multiply, "many"), (other_data, "s"), (item, "lst"), (inner_item, "lst"), (entry, "table")]
    + [(name, "names"), (one_of_many, "long")]
    + [(inner_tensor, "table"), (loose_module, "loose"), (other_weight, "weights")],
)
def test_a_change_after_the_module_is_bound(subject, holder, change, name):
    module = holder()
    runs(subject, module)
    change(module)
    refused(subject, f"`{name}` is ", module=module)


def test_what_was_changed_and_put_back(subject, holder):
    module = holder()
    runs(subject, module)
    module.lst[1] = 4
    with pytest.warns(UserWarning, match="`lst` is"):
        subject.call(module=module)
    module.lst[1] = 3
    runs(subject, module)
    kept = module.s
    del module.s
    with pytest.warns(UserWarning, match="`s` is no attribute any more"):
        subject.call(module=module)
    module.s = kept
    runs(subject, module)


def test_writes_to_weights_and_large_tensors_do_not_matter(subject, holder):
    module = holder()
    runs(subject, module)
    bound = module.__dict__["_solstice_runtime"].fast
    with torch.no_grad():
        module.inner.w.add_(1)
        module.large.mul_(2)
    runs(subject, module)
    assert module.__dict__["_solstice_runtime"].fast is bound


def test_inference_tensors_cannot_be_watched(subject, holder):
    module = holder()
    with torch.inference_mode():
        module.s = module.s.clone()
    refused(subject, "inference mode", module=module)


def test_gradient_of_a_held_tensor(subject, holder):
    module = holder()
    module.s.requires_grad_()
    module.inner.w.requires_grad_(False)
    module.loose[0].requires_grad_(False)
    runs(subject, module)
    with torch.enable_grad(), pytest.warns(UserWarning, match="gradients are required"):
        assert not subject.call(module=module)[1]
