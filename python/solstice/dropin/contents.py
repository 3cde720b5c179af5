"""What the attributes of a module hold, as text that two instances are compared by.

A value is told by its parts, down to numbers, strings and names: containers by their items, an object whose whole state
is Python's by its attributes, functions and classes by their names where these lead to them. Small tensors count by
content, since the kernels may hold them as literals (arrays.py). Parameters and buffers count by their path: the
kernels read those. Large tensors never become literals.

What is left over (a lock, an object of a C library) is told by its identity: no other object is taken for it.
"""

from __future__ import annotations

import copyreg
import enum
import functools
import hashlib
import itertools
import pathlib
import sys
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from typing import Any, Iterator, NamedTuple, Optional

import torch

from . import identity, names
from .arrays import is_array, text_of_array, text_of_tensor

MOST_PARTS = 5000  # containers and objects that a value is told by
_BY_REPR = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range)
_BY_REPR += (torch.dtype, torch.device, torch.layout, torch.memory_format)
_NUMBERS, _STRINGS = (int, float, complex), (str, bytes, bytearray)
_CONTAINERS = (list, torch.Size, tuple, OrderedDict, defaultdict, dict, set, frozenset, deque)  # derived ones first
HIDDEN = set(vars(torch.nn.Module())) - {"training", "_parameters", "_buffers", "_modules"}
_PLAIN = ("__new__", "__init__", "__repr__", "__str__", "__class__")
_HEAP_TYPE = 1 << 9  # of a class that a class statement made
_POINTER = 8
_NAMED = (types.FunctionType, types.BuiltinFunctionType, type, functools._lru_cache_wrapper)
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
_OPERATORS = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
_OF_EVERY_CLASS = {
    "__dict__", "__weakref__", "__module__", "__doc__", "__qualname__", "__abstractmethods__", "_abc_impl",
}  # fmt: skip
_OF_EVERY_CLASS |= {"__annotations__", "__firstlineno__", "__static_attributes__", "__slots__", "__slotnames__"}
_OF_EVERY_CLASS |= {"__dataclass_fields__", "__dataclass_params__"}

Paths = dict[int, str]  # of the parameters, buffers and modules of a tree, by id


class Parts(NamedTuple):
    """What decides a value: its kind, and further values."""

    kind: str
    items: list[tuple[str, Any]]  # each with what names it
    ordered: bool = True


def paths_of(module: torch.nn.Module) -> Paths:
    """The first path of each."""
    named = [
        *module.named_modules(remove_duplicate=False),
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ]
    return {id(thing): path for path, thing in reversed(named)}


class _TooLarge(Exception):
    """An object that leads to half of the program."""


def text_of(value: Any, paths: Paths) -> str:
    try:
        return _text_of(value, paths, (), itertools.count())
    except (_TooLarge, RecursionError):
        return identity.text_of(value)


def _text_of(value: Any, paths: Paths, within: tuple, parts_seen: Iterator[int]) -> str:
    if type(value) in _BY_REPR or _is_numpys_type(value):
        return repr(value)
    if id(value) in paths:
        return f"`{paths[id(value)]}`"
    if id(value) in within:
        return f"<level {within.index(id(value))}>"  # a list may hold itself
    if isinstance(value, torch.Tensor):
        return text_of_tensor(value)
    if is_array(value):
        return text_of_array(value)
    name = names.of_logger(value) or if_importable(value)
    if name is not None:
        return name
    parts = parts_of(value)
    if parts is None:
        return identity.text_of(value)
    if next(parts_seen) >= MOST_PARTS:
        raise _TooLarge
    within = (*within, id(value))
    texts = [f"{key}{_text_of(item, paths, within, parts_seen)}" for key, item in parts.items]
    return f"{parts.kind}({', '.join(texts if parts.ordered else sorted(texts))})"


def parts_of(value: Any) -> Optional[Parts]:
    """None where its state cannot be seen, or is none that it holds by reference."""
    kind = type(value)
    if isinstance(value, torch.nn.Module):
        return Parts(of_class(kind), _named({n: v for n, v in vars(value).items() if n not in HIDDEN}))
    if isinstance(value, enum.Enum):
        return Parts(f"{names.of(kind)}.{value._name_}", [("", value._value_)])
    for told in (_parts_of_container, _parts_of_callable, names.parts_of_code, _parts_of_object):
        parts = told(value)
        if parts is not None:
            return Parts(*parts)
    return None


def _named(values: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(f"{name}=", value) for name, value in values.items()]


def _parts_of_container(value: Any) -> Optional[tuple]:
    """Also of a class that is derived from one, which may hold more beside."""
    base = next((b for b in (*_CONTAINERS, *_NUMBERS, *_STRINGS) if isinstance(value, b)), None)
    if base is None or not _is_seen(type(value), base):
        return None
    if base in _NUMBERS:
        items = [("", base.__pos__(value))]
    elif base is bytearray:
        items = [("", bytes(value))]
    elif base in _STRINGS:
        items = [("", base.__getitem__(value, slice(None)))]
    elif issubclass(base, dict):
        items = [(f"{text_of(key, {})}: ", item) for key, item in base.items(value)]
    else:
        items = [("", item) for item in base.__iter__(value)]
    if base in (defaultdict, deque):
        items.append(("", value.default_factory if base is defaultdict else value.maxlen))
    kind = base.__name__ if type(value) is base else of_class(type(value))
    return kind, items + _named(state_of(value)), not isinstance(value, (set, frozenset))


def _parts_of_callable(value: Any) -> Optional[tuple]:
    if type(value) is functools.partial:
        return "partial", [("", value.func), ("", value.args), ("", value.keywords), *_named(vars(value))]
    if type(value) is types.MethodType:
        return "method", [("", value.__self__), ("", value.__func__)]
    if type(value) in (types.BuiltinMethodType, types.MethodWrapperType):
        return f"method {value.__name__}", [("", value.__self__)]
    if type(value) is slice:
        return "slice", [("", value.start), ("", value.stop), ("", value.step)]
    if type(value) is weakref.ref:
        return "weakref", [("", value())]
    if isinstance(value, pathlib.PurePath):
        return type(value).__name__, [("", str(value))]
    return None


def _is_numpys_type(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.dtype)


def _parts_of_object(value: Any) -> Optional[tuple]:
    kind = type(value)
    if not _is_seen(kind, object):
        return None
    state = state_of(value)
    if not state and not any(callable(v) for cls in kind.__mro__[:-1] for n, v in vars(cls).items() if n not in _PLAIN):
        return None  # a mark, which programs ask for its identity
    return of_class(kind), _named(state)


def state_of(value: Any) -> dict[str, Any]:
    """The attributes of an object itself, past its class's `__getattr__`, which may raise what it likes."""
    slots = {name: slot_of(value, name) for name in copyreg._slotnames(type(value))}
    return {**(dict_of(value) or {}), **{name: held for name, held in slots.items() if held is not names.NOTHING}}


def dict_of(value: Any) -> Optional[dict[str, Any]]:
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def slot_of(value: Any, name: str) -> Any:
    """A class derived from the one with the slot may have something else of that name."""
    found = (vars(cls).get(name) for cls in type(value).__mro__)
    slot = next((held for held in found if isinstance(held, types.MemberDescriptorType)), None)
    try:
        return names.NOTHING if slot is None else slot.__get__(value)
    except AttributeError:  # nothing was assigned yet
        return names.NOTHING


def _is_seen(kind: type, base: type) -> bool:
    """Its instances hold attributes of Python's and what `base` holds, and nothing else: no memory of a C library."""
    if kind is base:
        return base is not object
    if not all(cls.__flags__ & _HEAP_TYPE for cls in kind.__mro__ if not issubclass(base, cls)):
        return False
    places = (kind.__dictoffset__ > base.__dictoffset__) + (kind.__weakrefoffset__ > 0) + len(copyreg._slotnames(kind))
    return kind.__basicsize__ <= base.__basicsize__ + _POINTER * places


def of_class(cls: type) -> str:
    """A class that a function made is like another only if its methods are."""
    cls = getattr(cls, "_solstice_original", cls)
    return names.of(cls) if _is_found(cls) else _with_digest(cls)


def if_importable(value: Any) -> Optional[str]:
    """The name of a function, class or module, if it leads there: not of a lambda, or of what a function made."""
    if isinstance(value, types.ModuleType):
        return f"module {'' if value.__name__.startswith(names.USERS) else value.__name__}"
    if isinstance(value, _OPERATORS):
        return str(value)
    if isinstance(value, _DESCRIPTORS):
        return f"{names.of(value.__objclass__)}.{value.__name__}"
    if not isinstance(value, _NAMED):
        return None
    if isinstance(value, type):
        return of_class(value)
    owner = getattr(value, "__self__", None)
    if isinstance(value, types.BuiltinFunctionType) and (owner is None or isinstance(owner, (type, types.ModuleType))):
        return names.of(value)
    return names.of(value) if _is_found(value) else None


def _is_found(value: Any) -> bool:
    is_function = isinstance(value, types.FunctionType)
    scope = value.__globals__ if is_function else vars(sys.modules.get(value.__module__, types))
    first, *rest = value.__qualname__.split(".")
    found = scope.get(first)
    for name in rest:
        found = getattr(found, name, None)
    return found is value


def _with_digest(cls: type) -> str:
    """The text of its body, but short: it stands wherever an instance does."""
    if cls in _described:
        return names.of(cls)
    _described.append(cls)
    try:
        body = {n: text_of(v, {}) for n, v in vars(cls).items() if n not in _OF_EVERY_CLASS and not _is_slot(v)}
        bases = [of_class(base) for base in cls.__bases__]
    finally:
        _described.pop()
    return f"{names.of(cls)} {hashlib.sha256(repr((bases, body)).encode()).hexdigest()[:16]}"


_described: list[type] = []  # those whose bodies are being read; a method may refer to its class


def _is_slot(value: Any) -> bool:
    return isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType))
