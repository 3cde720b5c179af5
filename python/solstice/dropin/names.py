"""Functions and classes as text: by name where the name alone leads to them, else by what they are made of."""

from __future__ import annotations

import functools
import hashlib
import logging
import sys
import types
from typing import Any, Iterator, Optional

import torch

_USERS = ("solstice_user_", "solstice_original_")
_NAMED = (types.FunctionType, types.BuiltinFunctionType, type, functools._lru_cache_wrapper)
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
_OPERATORS = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
NOTHING = "nothing"  # what a cell holds that nothing was assigned to
_OF_EVERY_CLASS = {"__dict__", "__weakref__", "__module__", "__doc__", "__qualname__", "__abstractmethods__", "_abc_impl"}
_OF_EVERY_CLASS |= {"__annotations__", "__firstlineno__", "__static_attributes__", "__slots__", "__slotnames__"}
_OF_EVERY_CLASS |= {"__dataclass_fields__", "__dataclass_params__"}


def of(thing: Any) -> str:
    """With the module that defines it; the user's own file is loaded under different names in different processes."""
    module = str(thing.__module__)
    return f"{'' if module.startswith(_USERS) else module + '.'}{thing.__qualname__}"


def of_class(cls: type) -> str:
    """A class that a function made is like another only if its methods are."""
    cls = getattr(cls, "_solstice_original", cls)
    return of(cls) if _is_found(cls) else _with_digest(cls)


def of_logger(value: Any) -> Optional[str]:
    """Loggers have one instance a name, and nothing computes with them."""
    return f"{of(type(value))}({value.name!r})" if isinstance(value, logging.Logger) else None


def if_importable(value: Any) -> Optional[str]:
    """The name of a function, class or module, if it leads there: not of a lambda, or of what a function made."""
    if isinstance(value, types.ModuleType):
        return f"module {'' if value.__name__.startswith(_USERS) else value.__name__}"
    if isinstance(value, _OPERATORS):
        return str(value)
    if isinstance(value, _DESCRIPTORS):
        return f"{of(value.__objclass__)}.{value.__name__}"
    if not isinstance(value, _NAMED):
        return None
    if isinstance(value, type):
        return of_class(value)
    owner = getattr(value, "__self__", None)
    if isinstance(value, types.BuiltinFunctionType) and (owner is None or isinstance(owner, (type, types.ModuleType))):
        return of(value)
    return of(value) if _is_found(value) else None


def _is_found(value: Any) -> bool:
    is_function = isinstance(value, types.FunctionType)
    scope = value.__globals__ if is_function else vars(sys.modules.get(value.__module__, types))
    first, *rest = value.__qualname__.split(".")
    found = scope.get(first)
    for name in rest:
        found = getattr(found, name, None)
    return found is value


def parts_of_code(value: Any) -> Optional[tuple]:
    """Of a function: its code, and the values that it was made with."""
    if isinstance(value, (staticmethod, classmethod)):
        return type(value).__name__, [("", value.__func__)]
    if isinstance(value, property):
        return "property", [("", value.fget), ("", value.fset)]
    if type(value) is not types.FunctionType:
        return None
    cells = [(f"{n}=", contents_of(c)) for n, c in zip(value.__code__.co_freevars, value.__closure__ or ())]
    defaults = [("defaults=", d) for d in (value.__defaults__, value.__kwdefaults__) if d]
    more = [(f"{n}=", v) for n, v in vars(value).items()]
    return f"{of(value)} {digest(value.__code__)}", [*cells, *defaults, *more]


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Itself, and those of the functions, lambdas and comprehensions that it makes."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def contents_of(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was assigned yet
        return NOTHING


def _with_digest(cls: type) -> str:
    """The text of its body, but short: it stands wherever an instance does."""
    if cls in _described:
        return of(cls)
    from .contents import text_of  # which tells values by this file

    _described.append(cls)
    try:
        body = {n: text_of(v, {}) for n, v in vars(cls).items() if n not in _OF_EVERY_CLASS and not _is_slot(v)}
        bases = [of_class(base) for base in cls.__bases__]
    finally:
        _described.pop()
    return f"{of(cls)} {hashlib.sha256(repr((bases, body)).encode()).hexdigest()[:16]}"


_described: list[type] = []  # those whose bodies are being read; a method may refer to its class


def _is_slot(value: Any) -> bool:
    return isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType))


def digest(code: types.CodeType) -> str:
    return hashlib.sha256(repr(_content(code)).encode()).hexdigest()[:16]


def _content(code: types.CodeType) -> tuple:
    constants = [_content(c) if isinstance(c, types.CodeType) else _constant(c) for c in code.co_consts]
    signature = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return code.co_code.hex(), signature, constants, code.co_names, code.co_varnames, code.co_freevars


def _constant(value: Any) -> Any:
    """Sets are in no order."""
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)
