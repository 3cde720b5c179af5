"""What a forward does not read, users may change: the training flag, and attributes of their own."""

import functools
import operator
import sys
import threading
import types

import numpy as np
import pytest
import torch
from host_dropin import refused
from torch import nn
from torch.nn import functional as F

from solstice.dropin import structure
from solstice.dropin.reads import Reads


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.act = nn.Linear(2, 2), nn.GELU()


class Plain(Base):
    def forward(self, x):
        return torch.relu(F.gelu(self.act(self.layer(x)), approximate="tanh"))


class Direct(Base):
    def forward(self, x):
        return x if self.training else -x


class OfAChild(Base):
    def forward(self, x):
        return x if self.layer.training else -x


class InAMethod(Base):
    def forward(self, x):
        return self.helper(x)

    def helper(self, x):
        return x if self.training else -x


class InAProperty(Base):
    @property
    def mode(self):
        return self.training

    def forward(self, x):
        return x if self.mode else -x


class Inherited(Direct):
    def forward(self, x):
        return super().forward(x)


class InADecorated(Base):
    @torch.no_grad()
    def forward(self, x):
        return x if self.training else -x


def ask(module):
    return module.training


class InAFunction(Base):
    def forward(self, x):
        return x if ask(self) else -x


class InALambda(Base):
    def __init__(self):
        super().__init__()
        self.ask = lambda module: module.training

    def forward(self, x):
        return x if self.ask(self) else -x


class InAPartial(Base):
    def __init__(self):
        super().__init__()
        self.ask = [functools.partial(ask, self)]

    def forward(self, x):
        return x if self.ask[0]() else -x


class Asker:
    def __call__(self, module):
        return module.training


class InAnObject(Base):
    def __init__(self):
        super().__init__()
        self.ask = {"it": Asker()}

    def forward(self, x):
        return x if self.ask["it"](self) else -x


class InAGlobalObject(Base):
    asker = Asker()

    def forward(self, x):
        return x if self.asker(self) else -x


class ByName(Base):
    def forward(self, x):
        return x if getattr(self, "training") else -x


class ByAMadeUpName(Base):
    def forward(self, x):
        return x if getattr(self, "train" + "".join(["i", "ng"])) else -x


class ByItsDict(Base):
    def forward(self, x):
        return x if list(self.__dict__.values())[0] else -x


class ByAGetter(Base):
    def __init__(self):
        super().__init__()
        self.ask = operator.attrgetter("training")

    def forward(self, x):
        return x if self.ask(self) else -x


class InACallBefore(Base):
    def __call__(self, x):
        return super().__call__(x) * self.training

    def forward(self, x):
        return x


class InAComprehension(Base):
    def forward(self, x):
        return sum(x for module in self.modules() if module.training)


class InPyTorchsFunction(Base):
    def forward(self, x):
        return torch.nn.utils.fusion.fuse_conv_bn_eval(self.layer, self.layer)(x)


namespace = types.ModuleType("a_module_of_the_users")
namespace.ask = ask


class InAModuleOfFunctions(Base):
    def forward(self, x):
        return x if namespace.ask(self) else -x


@functools.lru_cache(maxsize=None)
def ask_once(module):
    return module.training


class InACachedFunction(Base):
    def forward(self, x):
        return x if ask_once(self) else -x


class InAnOperator(Base):
    def __iter__(self):
        return iter([self.training])

    def forward(self, x):
        return x if all(self) else -x


class InAPartOfAMethod(Base):
    def forward(self, x):
        def inner():
            return (lambda: [self.training for _ in range(1)])()

        return x if inner() else -x


class OnlyWhenMade(Base):
    def __init__(self):
        super().__init__()
        self.was_training = self.training

    def forward(self, x):
        return self.act(x)


READING = [
    Direct,
    OfAChild,
    InAMethod,
    InAProperty,
    Inherited,
    InADecorated,
    InAFunction,
    InALambda,
    InAPartial,
    InAnObject,
]
READING += [InAGlobalObject, ByName, ByAMadeUpName, ByItsDict, ByAGetter, InACallBefore, InAComprehension]
READING += [InACachedFunction, InAnOperator, InAPartOfAMethod, InPyTorchsFunction, InAModuleOfFunctions]


@pytest.mark.parametrize("cls", READING)
def test_code_that_may_read_the_training_flag(cls):
    for module in (cls(), nn.Sequential(cls())):
        found = Reads(module)
        assert all(found.may_read_training(child) for child in module.modules())
        recorded = structure.describe(module)
        assert structure.difference(module, recorded) is None
        assert "training` is False; recorded was True" in structure.difference(module.eval(), recorded)


def test_a_file_of_the_users_named_like_one_of_pythons(monkeypatch, tmp_path):
    (tmp_path / "token.py").write_text("def ask(module): return module.training\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "token", raising=False)
    scope = {"nn": nn, "__name__": "a_model"}
    exec(
        "from token import ask\nclass Model(nn.Module):\n    def forward(self, x): return x if ask(self) else -x\n",
        scope,
    )
    module = scope["Model"]()
    assert Reads(module).may_read_training(module)


@pytest.mark.parametrize(
    "module", [Plain(), OnlyWhenMade(), nn.Sequential(nn.Linear(2, 2), nn.GELU()), nn.Sequential(Plain())]
)
def test_code_that_does_not_read_it(module):
    recorded = structure.describe(module)
    assert structure.difference(module.eval(), recorded) is None


@pytest.mark.parametrize(
    "layer", [nn.Dropout(0.1), nn.BatchNorm1d(2), nn.InstanceNorm1d(2), nn.LSTM(2, 2, 2, dropout=0.1), nn.RReLU()]
)
def test_layers_that_read_it(layer):
    module = nn.Sequential(nn.Linear(2, 2), layer)
    recorded = structure.describe(module)
    assert "training" not in recorded["0"]["attributes"] and "training" in recorded["1"]["attributes"]
    assert "`1.training` is False" in structure.difference(module.eval(), recorded)


@pytest.fixture
def plain(subject, record):
    class Original(type(subject.original)):
        def __init__(self, scale):
            super().__init__(scale)
            self.drop = nn.Identity()
            self.lock = threading.Lock()

    return subject.module({**record, "structure": structure.describe(Original(2.0))}, Original)


def test_evaluation_keeps_the_kernels(subject, plain):
    assert subject.call(module=plain)[1]
    runtime = plain.__dict__["_solstice_runtime"]
    fast = runtime.fast
    assert subject.call(module=plain.eval())[1]
    assert subject.call(module=plain.train())[1]
    assert runtime.fast is fast and plain.solstice_fallbacks() == []


def test_attributes_that_no_forward_reads(subject, plain):
    """A counter of the user's, and a lock, which two modules never have alike."""
    plain.step = 0
    assert subject.call(module=plain)[1]
    plain.step += 1
    plain.inner.note = "mine"
    for _ in range(2):
        assert subject.call(module=plain)[1]
    plain.lock = threading.Lock()
    assert subject.call(module=plain)[1]
    plain.forward_hook_handles = []
    before = subject.launches()
    assert subject.call(module=plain)[1]
    plain.__dict__["_solstice_runtime"].fast(plain, (subject.x,), {})
    assert subject.launches() == before + 2


@pytest.mark.parametrize("is_read", [False, True])
def test_arrays_are_compared_where_a_forward_reads_them(subject, record, is_read):
    class Original(type(subject.original)):
        def __init__(self, scale):
            super().__init__(scale)
            self.held, self.scalar = {"table": [np.ones(30000)]}, np.float32(2)

        def forward(self, x):
            return torch.relu(x * self.inner.w)

    class Reading(Original):
        def forward(self, x):
            return torch.relu(x * self.inner.w * self.held["table"][0][0])

    cls = Reading if is_read else Original
    recorded = structure.describe(cls(2.0))
    assert ("held" in recorded[""]["attributes"]) is is_read and "scalar" in recorded[""]["attributes"]
    module = subject.module({**record, "structure": recorded}, cls)
    assert subject.call(module=module)[1]
    compared = module.__dict__["_solstice_runtime"]._bound.binding.watch.contents.others
    assert any(isinstance(value, np.ndarray) for value, _ in compared) is is_read
    module.held["table"][0][0] = 7
    if is_read:
        with pytest.warns(UserWarning, match="`held` is "):
            assert not subject.call(module=module)[1]
    else:
        assert subject.call(module=module)[1]


def test_an_attribute_in_front_of_a_method(subject, plain):
    """`inner.w` is looked up by PyTorch's `__getattr__`, and `children` is a method that code may call."""
    assert subject.call(module=plain)[1]
    plain.inner.children = lambda: iter(())
    refused(subject, "`inner.children` is ", module=plain)


def test_an_attribute_in_front_of_a_parameter(subject, plain):
    assert subject.call(module=plain)[1]
    plain.inner.__dict__["w"] = torch.tensor([3.0])
    with pytest.warns(UserWarning, match="`inner.w` is tensor"):
        result, fast = subject.call(module=plain)
    assert not fast
    torch.testing.assert_close(result, torch.relu(subject.x * 3))
