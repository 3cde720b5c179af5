"""An attribute's value of every kind is compared with the recorded one, when a module is bound and after."""

import collections
import copy
import dataclasses
import enum
import functools
import logging
import pathlib
import threading
import weakref

import numpy as np
import pytest
import torch
from host_dropin import Holder, difference, reads_value

from solstice.dropin import structure


class Mode(enum.Enum):
    A = 1
    B = 2


class Flags(enum.Flag):
    A = 1
    B = 2


@dataclasses.dataclass
class Config:
    scale: float = 2.0
    sizes: list = dataclasses.field(default_factory=lambda: [1, 2])


@dataclasses.dataclass(frozen=True)
class Frozen:
    scale: float = 2.0


@dataclasses.dataclass
class Nested:
    config: Config


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k


class Act:
    def __call__(self, x):
        return x


class Number(float):
    """With a repr that tells nothing."""

    def __repr__(self):
        return "a number"


class Row(dict):
    pass


Pair = collections.namedtuple("Pair", "a b")


def lambdas(k):
    return [lambda x: x, lambda x: x * 5][k]


def local(k):
    def function(x):
        return x * k

    return function


def with_default(k):
    def function(x, k=k):
        return x * k

    return function


def factory(k):
    class Local:
        def __call__(self, x):
            return x * k

    return Local


def holding(a, b):
    def items(x):
        found = [x]
        found.append(found)
        return found

    return items(a), items(b)


def counting(factor):
    found = collections.defaultdict(factor)
    found["a"] = 1
    return found


PAIRS = {
    "enum": (Mode.A, Mode.B),
    "flag": (Flags.A, Flags.A | Flags.B),
    "data class": (Config(2.0), Config(3.0)),
    "frozen data class": (Frozen(2.0), Frozen(3.0)),
    "inside of a data class": (Nested(Config(sizes=[1])), Nested(Config(sizes=[2]))),
    "slots": (Slotted(1), Slotted(2)),
    "objects of two classes": (Act(), Row()),
    "NumPy float": (np.float32(2), np.float32(3)),
    "NumPy double": (np.float64(2), np.float64(3)),
    "NumPy integer": (np.int64(2), np.int64(3)),
    "NumPy kinds": (np.float32(2), np.float64(2)),
    "NumPy array": (np.ones(3), np.zeros(3)),
    "long NumPy array": (np.ones(3000), np.zeros(3000)),
    "NumPy type": (np.dtype("float32"), np.dtype("float64")),
    "set": ({1}, {2}),
    "frozen set": (frozenset("a"), frozenset("b")),
    "slice": (slice(1, 2), slice(1, 3)),
    "range": (range(2), range(3)),
    "size": (torch.Size([1]), torch.Size([2])),
    "size or tuple": (torch.Size([1]), (1,)),
    "device": (torch.device("cpu"), torch.device("meta")),
    "named tuple": (Pair(1, 2), Pair(1, 3)),
    "derived float": (Number(1.0), Number(2.0)),
    "derived dict": (Row(a=1), Row(a=2)),
    "ordered dict": (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1)),
    "order of a dict": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "default of a dict": (counting(int), counting(float)),
    "deque": (collections.deque([1]), collections.deque([2])),
    "bytes": (bytearray(b"a"), bytearray(b"b")),
    "path": (pathlib.Path("a"), pathlib.Path("b")),
    "partial": (functools.partial(torch.sum, dim=0), functools.partial(torch.sum, dim=1)),
    "method": (Config(1.0).__eq__, Config(2.0).__eq__),
    "method of a tensor": (torch.ones(3).add, torch.zeros(3).add),
    "weak reference": (weakref.ref(Mode.A), weakref.ref(Mode.B)),
    "lambda": (lambdas(0), lambdas(1)),
    "closure": (local(1), local(2)),
    "default": (with_default(1), with_default(2)),
    "local class": (factory(1), factory(2)),
    "object of a local class": (factory(1)(), factory(2)()),
    "mixed list": ([1, Mode.A], [1, Mode.B]),
    "mixed dict": ({"a": 1, "b": np.float32(1)}, {"a": 1, "b": np.float32(2)}),
    "a list that holds itself": holding(1, 2),
    "an object of no known kind": (threading.Lock(), threading.Lock()),
    "beside one of no known kind": ([1, object()], [1, object()]),
    "a mark": (object(), object()),
}
ALIKE = {
    "data class": lambda: Config(2.0),
    "NumPy array": lambda: np.ones(3000),
    "set": lambda: {"a", "b", "c"},
    "closure": lambda: local(1),
    "local class": lambda: factory(1)(),
    "logger": lambda: logging.getLogger("solstice.test"),
    "stateless object": Act,
    "recurrent": lambda: [torch.nn.LSTM(2, 2)._flat_weights_names],
}


@pytest.mark.parametrize("kind", PAIRS)
def test_two_values_are_told_apart(kind):
    was, now = PAIRS[kind]
    assert difference(now, was).startswith("`value` is "), kind
    assert difference(was, was) is None


@pytest.mark.parametrize("kind", ALIKE)
def test_two_instances_of_one_value_are_alike(kind):
    assert difference(ALIKE[kind](), ALIKE[kind]()) is None


def set_scale(v):
    v.scale = 3.0


def set_slot(v):
    v.k = 2


def write(v):
    v[0] = 7


def add(v):
    v.add(5)


def append(v):
    v.append(5)


def inner_item(v):
    v.config.sizes[0] = 9


def reorder(v):
    v["a"] = v.pop("a")


def move(v):
    v.move_to_end(0)


def set_default(v):
    v.__defaults__ = (3,)


def set_cell(v):
    v.__closure__[0].cell_contents = 3


def set_code(v):
    v.__code__ = lambdas(1).__code__


def set_keyword(v):
    v.keywords["dim"] = 1


CHANGES = [
    (lambda: Config(2.0), set_scale),
    (lambda: Nested(Config()), inner_item),
    (lambda: Slotted(1), set_slot),
    (lambda: np.ones(3), write),
    (lambda: np.ones(30000), write),
    (lambda: bytearray(b"abc"), write),
    (lambda: {1, 2}, add),
    (lambda: collections.deque([1]), append),
    (lambda: {"a": 1, "b": 2}, reorder),
    (lambda: collections.OrderedDict(zip(range(4), "abcd")), move),
    (lambda: collections.OrderedDict.fromkeys(range(50)), move),
    (lambda: with_default(1), set_default),
    (lambda: local(1), set_cell),
    (lambda: lambdas(0), set_code),
    (lambda: functools.partial(torch.sum, dim=0), set_keyword),
]


@pytest.mark.parametrize(
    "make, change", CHANGES, ids=[f"{change.__name__}{i}" for i, (_, change) in enumerate(CHANGES)]
)
def test_a_change_inside_after_the_module_is_bound(subject, record, make, change):
    module = reads_value(subject, record, make)
    for _ in range(3):
        assert subject.call(module=module)[1]
    change(module.value)
    with pytest.warns(UserWarning, match="`value` is "):
        assert not subject.call(module=module)[1]


@pytest.mark.parametrize("kind", ["data class", "NumPy float", "closure", "enum", "an object of no known kind"])
def test_another_value_after_the_module_is_bound(subject, record, kind):
    was, now = PAIRS[kind]

    module = reads_value(subject, record, lambda: was)
    assert subject.call(module=module)[1]
    module.value = now
    with pytest.warns(UserWarning, match="`value` is "):
        assert not subject.call(module=module)[1]
    module.value = was
    assert subject.call(module=module)[1]


class AttrDict(dict):
    __getattr__ = dict.__getitem__


class EmptyAttrDict(dict):
    __slots__ = ()
    __getattr__ = dict.__getitem__


class Raising:
    __slots__ = ("k", "unset")

    def __init__(self, k):
        self.k = k

    def __getattr__(self, name):
        raise RuntimeError(name)


class Shadowing(Raising):
    __slots__ = ()
    k = unset = property(lambda self: self.absent)

    def __init__(self, k):
        Raising.k.__set__(self, k)


@pytest.mark.parametrize("make", [AttrDict, EmptyAttrDict, lambda k: Raising(k["k"]), lambda k: Shadowing(k["k"])])
def test_attributes_that_raise_other_errors(subject, record, make):
    class Original(type(subject.original)):
        def __init__(self, scale, value=2.0):
            super().__init__(scale)
            self.value = make({"k": value})

        def forward(self, x):
            return torch.relu(x * self.inner.w), self.value

    module = subject.module({**record, "structure": structure.describe(Original(2.0))}, Original)
    for _ in range(3):
        assert subject.call(module=module)[1]
    if isinstance(module.value, Raising):
        Raising.unset.__set__(module.value, 3)
    else:
        module.value["k"] = 3
    with pytest.warns(UserWarning, match="`value` is "):
        assert not subject.call(module=module)[1]
    other = type(module)(2.0, 3.0)
    with pytest.warns(UserWarning, match="`value` is "):
        assert not subject.call(module=other)[1]


@pytest.mark.parametrize("make", [lambda: Config(), lambda: Nested(Config())])
def test_a_copy_of_the_module_has_a_copy_of_the_value(make):
    module = Holder(make())
    assert structure.difference(copy.deepcopy(module), structure.describe(module)) is None
