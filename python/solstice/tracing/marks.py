"""What a place holds, as a mark that is equal as long as nothing has changed there, and as text for people."""

from __future__ import annotations

import enum
import functools
import sys
import types
import weakref
from collections import deque
from typing import Any, Optional

import torch
from torch._library.custom_ops import CustomOpDef

from ..dropin import arrays, contents
from ..errors import is_library_file

SCALARS = (bool, int, float, complex, str, bytes, type(None), type(...), torch.dtype, torch.device)
CONTAINERS = (list, tuple, dict, set, frozenset, deque)
_CODE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, staticmethod, classmethod, property)
_TOLD_BY_PARTS = (types.MethodType, functools.partial, weakref.ref, staticmethod, classmethod, property)
_REDUCED = ("builtins", "itertools", "collections", "random", "numpy")
_MOST_HASHED_BYTES = 1 << 26  # of an array
# Operators, custom ones too: PyTorch fills tables in them when they are called for the first time.
_OPERATORS = (torch._ops.OperatorBase, torch._ops.OpOverloadPacket, torch._ops._OpNamespace, CustomOpDef)
_SHOWN = 60  # characters of a value in a message


def mark_of(value: Any) -> Any:
    """Of what is told by its parts only the kind: they have places of their own."""
    if isinstance(value, enum.Enum) or isinstance(value, SCALARS):
        return repr(value)
    if isinstance(value, torch.Tensor):
        return _mark_of_tensor(value)
    if arrays.is_array(value):
        return _mark_of_array(value)
    if isinstance(value, (set, frozenset)):
        return frozenset(v if isinstance(v, SCALARS) else id(v) for v in value)
    if isinstance(value, CONTAINERS):
        return type(value), len(value)
    if isinstance(value, types.FunctionType):
        return id(value.__code__)
    if isinstance(value, types.GeneratorType):
        return id(value), value.gi_frame.f_lasti if value.gi_frame else None
    if _is_reducible(value):
        return id(value), _reduced(value)
    return type(value) if isinstance(value, _TOLD_BY_PARTS) or has_state(value) else id(value)


def _mark_of_tensor(tensor: torch.Tensor) -> tuple:
    version = None if tensor.is_inference() else tensor._version
    storage = tensor.untyped_storage()._cdata if tensor.layout is torch.strided else None
    return id(tensor), version, storage


def _mark_of_array(array: Any) -> tuple:
    told = hash(array.tobytes()) if array.nbytes <= _MOST_HASHED_BYTES else id(array)
    return array.dtype.str, array.shape, told


def is_users_class(cls: type) -> bool:
    return is_users_module(sys.modules.get(cls.__module__))


def is_users_module(module: Optional[types.ModuleType]) -> bool:
    file = getattr(module, "__file__", None)
    return not is_library_file(file) if isinstance(file, str) else getattr(module, "__name__", "") == "__main__"


def has_state(value: Any) -> bool:
    """Python's, in attributes; the rest is told by how it would be pickled."""
    if isinstance(value, (type, types.ModuleType, torch.nn.Module, *CONTAINERS, *_OPERATORS)):
        return False
    return is_users_class(type(value)) or bool(contents.state_of(value))


def _is_reducible(value: Any) -> bool:
    is_plain = isinstance(value, (*SCALARS, *CONTAINERS, type, types.ModuleType, *_CODE))
    return not is_plain and str(type(value).__module__).partition(".")[0] in _REDUCED


def _reduced(value: Any, depth: int = 0) -> Any:
    """Iterators and generators of random numbers say where they are when they are asked for their pickled form."""
    if isinstance(value, SCALARS):
        return repr(value)
    if arrays.is_array(value):
        return _mark_of_array(value)
    if depth > 6 or isinstance(value, (type, types.ModuleType, types.FunctionType, torch.Tensor, torch.nn.Module)):
        return id(value)
    if isinstance(value, dict):
        return tuple((_reduced(k, depth + 1), _reduced(v, depth + 1)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_reduced(v, depth + 1) for v in value)
    try:
        return _reduced(value.__reduce_ex__(2), depth + 1)
    except Exception:  # it is no thing to pickle: its identity has to do
        return id(value)


def key_text(key: Any) -> str:
    return repr(key)[:_SHOWN] if isinstance(key, (*SCALARS, tuple)) else type(key).__name__


def text_of(value: Any, depth: int = 0) -> str:
    if isinstance(value, (*SCALARS, enum.Enum)):
        text = repr(value)
    elif isinstance(value, torch.Tensor):
        text = "tensor"
    elif isinstance(value, dict) and len(value) < 6 and depth < 4:
        text = "{" + ", ".join(f"{key_text(k)}: {text_of(v, depth + 1)}" for k, v in value.items()) + "}"
    elif isinstance(value, (list, tuple)) and len(value) < 6 and depth < 4:
        text = "[{}]" if isinstance(value, list) else "({})"
        text = text.format(", ".join(text_of(v, depth + 1) for v in value))
    else:
        text = type(value).__name__ + (f" of {len(value)}" if isinstance(value, CONTAINERS) else "")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}.."
