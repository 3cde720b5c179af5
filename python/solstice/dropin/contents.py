"""What the attributes of a module hold, as text that two instances are compared by.

A value is told by its parts, down to numbers, strings and names: containers by their items, an object whose whole state
is Python's by its attributes, functions by name.py. Small tensors count by content, since the kernels may hold them as
literals. Parameters and buffers count by their path: the kernels read those. Large tensors never become literals.

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

MOST_BYTES = 1 << 15  # of a tensor that is told by content; what a graph holds in line is smaller
MOST_PARTS = 5000  # containers and objects that a value is told by
_ARRAY = "numpy.ndarray("  # how the text of one begins
_SHOWN = 8  # elements that the text writes out
_BY_REPR = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range)
_BY_REPR += (torch.dtype, torch.device, torch.layout, torch.memory_format)
_NUMBERS, _STRINGS = (int, float, complex), (str, bytes, bytearray)
_CONTAINERS = (list, torch.Size, tuple, OrderedDict, defaultdict, dict, set, frozenset, deque)  # derived ones first
_TENSORS = (torch.Tensor, torch.nn.Parameter)
HIDDEN = set(vars(torch.nn.Module())) - {"training", "_parameters", "_buffers", "_modules"}
_PLAIN = ("__new__", "__init__", "__repr__", "__str__", "__class__")
_HEAP_TYPE = 1 << 9  # of a class that a class statement made
_POINTER = 8

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
        return _text_of_tensor(value)
    if is_array(value):
        return f"{names.of(type(value))}({value.dtype}{list(value.shape)}, {_content_of_array(value)})"
    name = names.of_logger(value) or names.if_importable(value)
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
        return Parts(names.of_class(kind), _named({n: v for n, v in vars(value).items() if n not in HIDDEN}))
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
    kind = base.__name__ if type(value) is base else names.of_class(type(value))
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


def is_array(value: Any) -> bool:
    """An array or a scalar of NumPy's, of numbers."""
    numpy = sys.modules.get("numpy")
    if numpy is None or type(value) is not numpy.ndarray and not isinstance(value, numpy.generic):
        return False
    return not value.dtype.hasobject and (type(value) is numpy.ndarray or type(value).__module__ == "numpy")


def _parts_of_object(value: Any) -> Optional[tuple]:
    kind = type(value)
    if not _is_seen(kind, object):
        return None
    state = state_of(value)
    if not state and not any(callable(v) for cls in kind.__mro__[:-1] for n, v in vars(cls).items() if n not in _PLAIN):
        return None  # a mark, which programs ask for its identity
    return names.of_class(kind), _named(state)


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


def _text_of_tensor(tensor: torch.Tensor) -> str:
    if type(tensor) not in _TENSORS or tensor.layout is not torch.strided or tensor.is_quantized:
        return identity.text_of(tensor)
    form = form_of(tensor)
    return f"tensor({form}, {_content(tensor)})" if is_told_by_content(tensor) else f"tensor({form})"


def has_array(text: str) -> bool:
    """Some of what it tells is an array of NumPy's."""
    return _ARRAY in text


def form_of(tensor: torch.Tensor) -> str:
    if torch.nn.parameter.is_lazy(tensor):
        return "not initialized"
    return f"{str(tensor.dtype)[6:]}{list(tensor.shape)}"


def is_told_by_content(tensor: torch.Tensor) -> bool:
    if type(tensor) not in _TENSORS or tensor.layout is not torch.strided or tensor.is_meta or tensor.is_quantized:
        return False
    return tensor.numel() * tensor.element_size() <= MOST_BYTES


def _content(tensor: torch.Tensor) -> str:
    if tensor.is_cuda and torch.cuda.is_current_stream_capturing():
        return "not to be read while a graph is captured"
    host = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    if host.numel() <= _SHOWN:
        return repr(host.tolist())
    return hashlib.sha256(bytes(host.reshape(-1).view(torch.uint8).tolist())).hexdigest()[:16]


def _content_of_array(array: Any) -> str:
    return repr(array.tolist()) if array.size <= _SHOWN else hashlib.sha256(array.tobytes()).hexdigest()[:16]
