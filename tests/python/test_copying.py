"""Copies of modules whose layers are also held by functions: one case, one class."""

import copy
import functools
import threading
import types

import pytest
import torch

from solstice.oracle.copying import copy_module


class Holder:
    def __init__(self, layer):
        self.layer = layer


class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(4, 4)
        self.wire(self.up)

    def forward(self, x):
        return self.f(x)


class InClosure(Base):
    def wire(self, up):
        self.f = lambda x: up(x)


class BesideALock(Base):
    def wire(self, up):
        config = {"lock": threading.Lock()}
        self.f = lambda x: up(x) if config else x


class InDefaults(Base):
    def wire(self, up):
        self.f = lambda x, layer=up: layer(x)


class InKeywordDefaults(Base):
    def wire(self, up):
        def f(x, *, layer=up):
            return layer(x)

        self.f = f


class InNestedFunction(Base):
    def wire(self, up):
        inner = lambda x: up(x)

        def outer(x):
            return inner(x)

        self.f = outer


class InHolder(Base):
    def wire(self, up):
        holder = Holder(up)
        self.f = lambda x: holder.layer(x)


class InPartial(Base):
    def wire(self, up):
        self.f = functools.partial(lambda x, scale: up(x) * scale, scale=2)


class InListOfFunctions(Base):
    def wire(self, up):
        self.steps = [lambda x: up(x), torch.relu]

    def forward(self, x):
        return self.steps[1](self.steps[0](x))


class InHook(Base):
    def wire(self, up):
        extra = self.extra = torch.nn.Linear(4, 4)
        up.register_forward_hook(lambda module, args, result: extra(result))

    def forward(self, x):
        return self.up(x)


class InOneThatClosesOverItself(Base):
    def wire(self, up):
        def f(x, depth=2):
            return up(x) if depth == 0 else f(x, depth - 1)

        self.f = f


class InOneThatClosesOverTheModule(Base):
    def wire(self, up):
        self.f = lambda x: self.up(x)


class NotAnAttribute(torch.nn.Module):
    """The function alone holds the layer."""

    def __init__(self):
        super().__init__()
        scale = torch.rand(4)
        self.f = lambda x: x * scale

    def forward(self, x):
        return self.f(x)


KINDS = [kind for kind in Base.__subclasses__()]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_copy_has_layers_of_its_own(kind):
    module, x = kind(), torch.rand(2, 4)
    before = module(x)
    double = copy_module(module).double()
    torch.testing.assert_close(double(x.double()).float(), before, rtol=1e-5, atol=1e-5)
    with torch.no_grad():
        for parameter in double.parameters():
            parameter.zero_()
    assert torch.equal(module(x), before)
    assert double(x.double()).abs().max() == 0


def test_a_function_that_closes_over_the_module_is_bound_to_the_copy():
    copied = copy_module(InOneThatClosesOverTheModule())
    assert copied.f.__closure__[0].cell_contents is copied


def test_a_function_that_closes_over_itself_calls_its_copy():
    copied = copy_module(InOneThatClosesOverItself())
    assert copied.f in [cell.cell_contents for cell in copied.f.__closure__]


def test_a_tensor_that_only_a_function_holds_is_copied():
    module = NotAnAttribute()
    (cell,) = copy_module(module).f.__closure__
    (own,) = module.f.__closure__
    assert cell.cell_contents is not own.cell_contents and torch.equal(cell.cell_contents, own.cell_contents)


def test_what_cannot_be_copied_is_shared():
    module = Base.__new__(Base)
    torch.nn.Module.__init__(module)
    layer = torch.nn.Linear(4, 4)
    both = {"layer": layer, "lock": threading.Lock()}
    module.f = lambda x: both["layer"](x)
    copied = copy_module(module)
    assert copied.f.__closure__[0].cell_contents is both


def test_what_reaches_no_tensor_is_as_deepcopy_leaves_it():
    module = BesideALock()
    module.plain = lambda x: x + 1
    copied = copy_module(module)
    assert copied.plain is module.plain
    lock = next(c.cell_contents for c in module.f.__closure__ if isinstance(c.cell_contents, dict))
    assert any(cell.cell_contents is lock for cell in copied.f.__closure__)


def test_functions_keep_what_they_are():
    module = InKeywordDefaults()
    module.f.note, module.f.__doc__ = "kept", "A function."
    f = copy_module(module).f
    assert (f.note, f.__doc__, f.__qualname__, f.__module__) == ("kept", "A function.", module.f.__qualname__, __name__)


def test_a_variable_that_is_not_bound_yet_stays_so():
    class Late(Base):
        def wire(self, up):
            self.f = lambda x: up(x) if x.dim() else later(x)
            if False:
                later = None

    copied = copy_module(Late())
    assert copied(torch.rand(2, 4)).shape == (2, 4)


def test_other_copies_in_the_process_are_as_ever(monkeypatch):
    """`solstice.optimize` runs in the user's process, whose other threads copy too."""
    usual = copy._deepcopy_dispatch[types.FunctionType]
    seen = []

    class Looks(Base):
        def wire(self, up):
            self.f = lambda x: up(x)

        def __setstate__(self, state):
            seen.append(copy._deepcopy_dispatch[types.FunctionType] is usual)
            super().__setstate__(state)

    copy_module(Looks())
    assert seen == [True]


def test_memory_that_runs_out_is_no_reason_to_share():
    class Full:
        def __init__(self, layer):
            self.layer = layer

        def __deepcopy__(self, memo):
            raise torch.OutOfMemoryError("CUDA out of memory")

    module = InClosure()
    full = Full(module.up)
    module.f = lambda x: full.layer(x)
    with pytest.raises(torch.OutOfMemoryError):
        copy_module(module)
